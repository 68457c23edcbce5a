#include "text/pattern_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "text/unicode/utf8.h"

namespace assay::text {
namespace {

constexpr int kMaxNesting = 32;          // groups or classes inside each other
constexpr size_t kMaxFoldedSet = 20000;  // code points of a set under (?i: ...)

char32_t single(const std::string& mapped, char32_t otherwise) {
  const CodePoint c = decode_at(mapped, 0);
  return c.bytes == mapped.size() ? c.value : otherwise;
}

// Simple case folding: the lower case of the upper case, so that U+017F folds to s.
char32_t fold(char32_t c) {
  std::string upper, lower;
  append_upper(&upper, c);
  append_lower(&lower, single(upper, c));
  return single(lower, c);
}

// (folded, original) of every code point that has a case.
const std::vector<std::pair<char32_t, char32_t>>& folds() {
  static const auto table = [] {
    std::vector<std::pair<char32_t, char32_t>> out;
    for (const char32_t c : cased_code_points()) out.emplace_back(fold(c), c);
    std::sort(out.begin(), out.end());
    return out;
  }();
  return table;
}

CodeSet add_case_variants(const CodeSet& set) {
  CodeSet out = set;
  for (const Range& range : set)
    for (char32_t c = range.first; c <= range.last; ++c) {
      const char32_t folded = fold(c);
      auto at = std::lower_bound(folds().begin(), folds().end(), std::pair<char32_t, char32_t>(folded, 0));
      for (; at != folds().end() && at->first == folded; ++at) out.push_back({at->second, at->second});
    }
  return make_set(std::move(out));
}

size_t count_of(const CodeSet& set) {
  size_t count = 0;
  for (const Range& range : set) count += range.last - range.first + 1;
  return count;
}

class PatternParser {
 public:
  explicit PatternParser(std::string_view pattern) : text_(pattern) {}

  Result<std::vector<PatternPart>> run() {
    ignore_case_.push_back(false);
    while (pos_ < text_.size() && error_.empty()) part();
    if (error_.empty() && ignore_case_.size() != 1) fail("a group that is not closed");
    if (!error_.empty()) return Error{error_};
    return std::move(parts_);
  }

 private:
  void fail(std::string_view what) {
    if (error_.empty())
      error_ = fmt::format("pattern '{}', byte {}: {} is not supported by this tokenizer", text_, pos_, what);
  }
  bool at(std::string_view s) const { return text_.substr(pos_, s.size()) == s; }
  bool take(std::string_view s) {
    if (!at(s)) return false;
    pos_ += s.size();
    return true;
  }
  void op(std::string text) { parts_.push_back({std::move(text), {}}); }

  void set(CodeSet s) {
    if (ignore_case_.back()) {
      if (count_of(s) > kMaxFoldedSet) return fail("a big set inside (?i:");
      s = add_case_variants(s);
    }
    parts_.push_back({"", std::move(s)});
  }

  char32_t next_code_point() {
    const CodePoint c = decode_at(text_, pos_);
    pos_ += c.bytes;
    return c.value;
  }

  void part() {
    const char c = text_[pos_];
    if (c == '(') return open_group();
    if (c == ')') {
      if (ignore_case_.size() == 1) return fail("an unmatched )");
      ignore_case_.pop_back();
      ++pos_;
      return op(")");
    }
    if (c == '{') return repeat();
    if (c == '|' || c == '*' || c == '+' || c == '?') {
      ++pos_;
      return op(std::string(1, c));
    }
    if (c == '^' || c == '$') return fail("a line anchor");
    if (c == '.') {
      ++pos_;
      return set(complement({{'\n', '\n'}}));
    }
    if (c == '[') {
      ++pos_;
      return set(char_class(0));
    }
    if (c == '\\') return set(escape());
    const char32_t literal = next_code_point();
    set({{literal, literal}});
  }

  void open_group() {
    if (ignore_case_.size() >= kMaxNesting) return fail("so deep a nesting");
    ++pos_;
    bool ignore_case = ignore_case_.back();
    if (at("?")) {
      constexpr std::string_view kKinds[] = {"?:", "?=", "?!", "?<=", "?<!", "?>"};
      const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](auto k) { return at(k); });
      if (kind != std::end(kKinds)) {
        pos_ += kind->size();
        op("(" + std::string(*kind));
      } else if (take("?i:")) {
        ignore_case = true;
        op("(?:");
      } else if (take("?-i:")) {
        ignore_case = false;
        op("(?:");
      } else {
        return fail("this kind of group");
      }
    } else {
      op("(?:");
    }
    ignore_case_.push_back(ignore_case);
  }

  void repeat() {
    const size_t close = text_.find('}', pos_);
    const std::string_view body = text_.substr(pos_ + 1, close == text_.npos ? 0 : close - pos_ - 1);
    const bool plain = !body.empty() && body.size() <= 9 &&
                       body.find_first_not_of("0123456789,") == body.npos &&
                       std::count(body.begin(), body.end(), ',') <= 1 && body != ",";
    if (!plain) return fail("this use of {");
    op(body[0] == ',' ? fmt::format("{{0{}}}", body) : fmt::format("{{{}}}", body));
    pos_ = close + 1;
  }

  std::optional<char32_t> hex(size_t digits) {
    char32_t value = 0;
    size_t seen = 0;
    for (; seen < digits && pos_ < text_.size() && std::isxdigit(static_cast<unsigned char>(text_[pos_]));
         ++seen) {
      const char d = text_[pos_++];
      value = value * 16 + static_cast<char32_t>(d <= '9' ? d - '0' : (d | 32) - 'a' + 10);
    }
    if (seen == 0 || value > kLastCodePoint) return std::nullopt;
    return value;
  }

  CodeSet property(bool negated) {
    if (!take("{")) return fail("\\p without {"), CodeSet();
    if (take("^")) negated = !negated;
    const size_t close = text_.find('}', pos_);
    const std::string_view name = text_.substr(pos_, close == text_.npos ? 0 : close - pos_);
    const auto found = property_set(name);
    if (!found) return fail(fmt::format("the property \\p{{{}}}", name)), CodeSet();
    pos_ = close + 1;
    return negated ? complement(*found) : *found;
  }

  CodeSet word_set() {
    CodeSet out;
    for (const char* name : {"L", "M", "Nd", "Nl", "Pc"}) out = unite(out, *property_set(name));
    return out;
  }

  CodeSet escape() {
    ++pos_;
    if (pos_ >= text_.size()) return fail("a lone backslash"), CodeSet();
    const char32_t c = next_code_point();
    const auto one = [](char32_t value) { return CodeSet{{value, value}}; };
    switch (c) {
      case 'r':
        return one('\r');
      case 'n':
        return one('\n');
      case 't':
        return one('\t');
      case 'f':
        return one('\f');
      case 'v':
        return one('\v');
      case 's':
        return white_space_set();
      case 'S':
        return complement(white_space_set());
      case 'd':
        return *property_set("Nd");
      case 'D':
        return complement(*property_set("Nd"));
      case 'w':
        return word_set();
      case 'W':
        return complement(word_set());
      case 'p':
        return property(false);
      case 'P':
        return property(true);
      case 'x':
      case 'u': {
        const bool braces = take("{");
        const auto value = hex(braces ? 8 : c == 'x' ? 2 : 4);
        if (!value || (braces && !take("}"))) return fail("this escape"), CodeSet();
        return one(*value);
      }
      default:
        break;
    }
    if (c < 0x80 && std::isalnum(static_cast<int>(c)))
      return fail(fmt::format("\\{}", static_cast<char>(c))), CodeSet();
    return one(c);
  }

  // Behind the opening bracket; consumes the closing one.
  CodeSet char_class(int depth) {
    if (depth > kMaxNesting) return fail("so deep a nesting"), CodeSet();
    const bool negated = take("^");
    CodeSet all = class_operand(depth);
    while (error_.empty() && take("&&")) all = intersect(all, class_operand(depth));
    if (error_.empty() && !take("]")) fail("a class that is not closed");
    return negated ? complement(all) : all;
  }

  CodeSet class_operand(int depth) {
    CodeSet out;
    bool first = true;
    while (error_.empty() && pos_ < text_.size() && !at("&&") && (!at("]") || first)) {
      if (at("[:")) return fail("a POSIX class"), CodeSet();
      if (at("]")) return fail("an empty class"), CodeSet();
      if (take("[")) {
        const CodeSet inner = char_class(depth + 1);
        out.insert(out.end(), inner.begin(), inner.end());
      } else {
        class_item(&out);
      }
      first = false;
    }
    return make_set(std::move(out));
  }

  CodeSet class_atom() {
    if (at("\\")) return escape();
    const char32_t c = next_code_point();
    return {{c, c}};
  }

  void class_item(CodeSet* out) {
    CodeSet low = class_atom();
    const bool is_char = low.size() == 1 && low[0].first == low[0].last;
    const bool range = is_char && at("-") && pos_ + 1 < text_.size() && text_[pos_ + 1] != ']';
    if (!range) {
      out->insert(out->end(), low.begin(), low.end());
      return;
    }
    if (at("--")) return fail("class difference (--)");
    ++pos_;
    const CodeSet high = class_atom();
    if (high.size() != 1 || high[0].first != high[0].last || high[0].first < low[0].first)
      return fail("this range");
    out->push_back({low[0].first, high[0].first});
  }

  std::string_view text_;
  size_t pos_ = 0;
  std::vector<PatternPart> parts_;
  std::vector<bool> ignore_case_;  // one entry a group
  std::string error_;
};

}  // namespace

Result<std::vector<PatternPart>> parse_pattern(std::string_view pattern) {
  return PatternParser(pattern).run();
}

std::vector<PatternPart> literal_parts(std::string_view text) {
  std::vector<PatternPart> parts;
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint c = decode_at(text, pos);
    parts.push_back({"", {{c.value, c.value}}});
    pos += c.bytes;
  }
  return parts;
}

}  // namespace assay::text
