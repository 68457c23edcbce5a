#include "text/jinja/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "text/jinja/failure.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace assay::text::jinja {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Line ends become \n; one at the very end goes.
std::string unify_lines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out += source[i];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)), text_(source_) {}

  std::vector<Token> run() {
    while (pos_ < text_.size()) data();
    push(Token::Kind::end, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void bad(std::string message) {
    throw Failure{FailureKind::syntax, std::move(message), line_};
  }
  void push(Token::Kind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }
  bool at(std::string_view s) const { return text_.substr(pos_, s.size()) == s; }

  // Moves on, counting lines; remembers whether the last character was a line end.
  void advance(size_t to) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<ptrdiff_t>(pos_),
                                         text_.begin() + static_cast<ptrdiff_t>(to), '\n'));
    if (to > pos_) line_starting_ = text_[to - 1] == '\n';
    pos_ = to;
  }

  size_t after_space(size_t from) const {
    while (from < text_.size()) {
      const CodePoint c = decode_at(text_, from);
      if (!is_python_space(c.value)) break;
      from += c.bytes;
    }
    return from;
  }

  static std::string_view strip_right(std::string_view s) {
    while (!s.empty()) {
      size_t start = s.size() - 1;
      while (start > 0 && (static_cast<uint8_t>(s[start]) & 0xC0) == 0x80) --start;
      if (!is_python_space(decode_at(s, start).value)) break;
      s = s.substr(0, start);
    }
    return s;
  }

  // The text before a tag, as the tag's sign and lstrip_blocks leave it.
  std::string_view before_tag(std::string_view s, char sign, bool is_print) const {
    if (sign == '-') return strip_right(s);
    if (sign == '+' || is_print) return s;
    const size_t line = s.rfind('\n') == s.npos ? 0 : s.rfind('\n') + 1;
    if (line == 0 && !line_starting_) return s;
    return strip_right(s.substr(line)).empty() ? s.substr(0, line) : s;
  }

  // The text up to the next tag, then the tag itself.
  void data() {
    size_t tag = pos_;
    for (;; ++tag) {
      tag = text_.find('{', tag);
      if (tag == text_.npos || tag + 1 >= text_.size()) {
        push(Token::Kind::data, std::string(text_.substr(pos_)));
        return advance(text_.size());
      }
      if (text_[tag + 1] == '{' || text_[tag + 1] == '%' || text_[tag + 1] == '#') break;
    }
    const char kind = text_[tag + 1];
    const char sign =
        tag + 2 < text_.size() && (text_[tag + 2] == '-' || text_[tag + 2] == '+') ? text_[tag + 2] : '\0';
    const std::string_view kept = before_tag(text_.substr(pos_, tag - pos_), sign, kind == '{');
    if (!kept.empty()) push(Token::Kind::data, std::string(kept));
    const size_t inside = tag + (sign ? 3 : 2);
    if (kind == '#') {
      advance(inside);
      return comment();
    }
    if (const size_t raw = kind == '%' ? raw_tag(inside) : 0) {
      advance(raw);
      return raw_text();
    }
    advance(inside);
    push(kind == '{' ? Token::Kind::print_begin : Token::Kind::block_begin, "");
    code(kind == '{');
  }

  void comment() {
    const size_t close = text_.find("#}", pos_);
    if (close == text_.npos) bad("a comment that does not end");
    const char sign = close > pos_ ? text_[close - 1] : '\0';
    advance(after_close(close + 2, sign));
  }

  // Where to go on behind a tag's end: after white space, or one line end (trim_blocks).
  size_t after_close(size_t end, char sign) const {
    if (sign == '-') return after_space(end);
    return sign != '+' && end < text_.size() && text_[end] == '\n' ? end + 1 : end;
  }

  // `at` is behind "{%" and its sign. The place behind "raw %}", or 0.
  size_t raw_tag(size_t from) const {
    const size_t word = after_space(from);
    if (text_.substr(word, 3) != "raw") return 0;
    const size_t end = after_space(word + 3);
    if (text_.substr(end, 3) == "-%}") return after_space(end + 3);
    return text_.substr(end, 2) == "%}" ? end + 2 : 0;
  }

  void raw_text() {
    for (size_t tag = pos_; (tag = text_.find("{%", tag)) != text_.npos; ++tag) {
      char sign = tag + 2 < text_.size() ? text_[tag + 2] : '\0';
      if (sign != '-' && sign != '+') sign = '\0';
      const size_t word = after_space(tag + (sign ? 3 : 2));
      if (text_.substr(word, 6) != "endraw") continue;
      size_t end = after_space(word + 6);
      char close_sign = '\0';
      if (end < text_.size() && (text_[end] == '-' || text_[end] == '+')) close_sign = text_[end++];
      if (text_.substr(end, 2) != "%}") continue;
      const std::string_view kept = before_tag(text_.substr(pos_, tag - pos_), sign, false);
      if (!kept.empty()) push(Token::Kind::data, std::string(kept));
      return advance(after_close(end + 2, close_sign));
    }
    bad("a raw block that does not end");
  }

  // Tokens up to the end of a {{ }} or {% %}.
  void code(bool is_print) {
    std::string brackets;  // the closing ones that are due
    for (;;) {
      advance(after_space(pos_));
      if (pos_ >= text_.size()) return;  // the parser misses the end
      if (brackets.empty() && close_tag(is_print)) return;
      const char c = text_[pos_];
      if (is_digit(c)) {
        number();
      } else if (c == '\'' || c == '"') {
        string(c);
      } else if (!name()) {
        punctuation(&brackets);
      }
    }
  }

  bool close_tag(bool is_print) {
    const std::string_view close = is_print ? "}}" : "%}";
    const size_t signs = at(close) ? 0 : (text_[pos_] == '-' || (text_[pos_] == '+' && !is_print)) ? 1 : 2;
    if (signs == 2 || text_.substr(pos_ + signs, 2) != close) return false;
    const char sign = signs == 1 ? text_[pos_] : '\0';
    push(is_print ? Token::Kind::print_end : Token::Kind::block_end, "");
    const size_t end = pos_ + signs + 2;
    advance(is_print && sign != '-' ? end : after_close(end, sign));
    return true;
  }

  // Digits with single underscores between them; the place behind.
  size_t digits(size_t from, int base) const {
    const auto fits = [&](char c) {
      return base == 16 ? std::isxdigit(static_cast<unsigned char>(c)) != 0 : c >= '0' && c < '0' + base;
    };
    size_t p = from;
    while (p < text_.size() &&
           (fits(text_[p]) || (text_[p] == '_' && p > from && p + 1 < text_.size() && fits(text_[p + 1]))))
      ++p;
    return p;
  }

  void number() {
    const auto put = [&](Token::Kind kind, size_t end) {
      std::string text(text_.substr(pos_, end - pos_));
      std::erase(text, '_');
      push(kind, std::move(text));
      advance(end);
    };
    const bool after_dot = pos_ > 0 && text_[pos_ - 1] == '.';
    const size_t whole = digits(pos_, 10);
    if (!after_dot && real_end(whole) != whole) return put(Token::Kind::real, real_end(whole));
    if (text_[pos_] == '0' && pos_ + 2 < text_.size()) {
      const char kind = static_cast<char>(std::tolower(static_cast<unsigned char>(text_[pos_ + 1])));
      const int base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0;
      if (base != 0 && digits(pos_ + 2, base) > pos_ + 2)
        return put(Token::Kind::integer, digits(pos_ + 2, base));
    }
    if (text_[pos_] != '0') return put(Token::Kind::integer, whole);
    size_t zeros = pos_ + 1;
    while (zeros < text_.size() && text_[zeros] == '0') ++zeros;
    put(Token::Kind::integer, zeros);
  }

  // `whole` is behind the digits before the point; the place behind the fraction and the exponent.
  size_t real_end(size_t whole) const {
    size_t end = whole;
    if (end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1])) end = digits(end + 1, 10);
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      size_t exponent = end + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
      if (exponent < text_.size() && is_digit(text_[exponent])) end = digits(exponent, 10);
    }
    return end;
  }

  bool name() {
    size_t end = pos_;
    while (end < text_.size()) {
      const CodePoint c = decode_at(text_, end);
      if (c.value != '_' &&
          !(c.value < 0x80 ? std::isalnum(static_cast<int>(c.value)) != 0 : is_word(c.value)))
        break;
      end += c.bytes;
    }
    if (end == pos_) return false;
    push(Token::Kind::name, std::string(text_.substr(pos_, end - pos_)));
    advance(end);
    return true;
  }

  void string(char quote) {
    size_t end = pos_ + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) bad("a string that does not end");
    push(Token::Kind::string, unescape(text_.substr(pos_ + 1, end - pos_ - 1)));
    advance(end + 1);
  }

  std::string unescape(std::string_view s) {
    std::string out;
    for (size_t i = 0; i < s.size(); ++i) {
      if (s[i] != '\\') {
        out += s[i];
        continue;
      }
      const char c = s[++i];
      constexpr std::string_view kFrom = "\\'\"abfnrtv", kTo = "\\'\"\a\b\f\n\r\t\v";
      if (const size_t known = kFrom.find(c); known != kFrom.npos) {
        out += kTo[known];
      } else if (c == 'x' || c == 'u' || c == 'U') {
        const size_t count = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        append_utf8(&out, hex(s.substr(i + 1, count), count));
        i += count;
      } else if (c >= '0' && c <= '7') {
        char32_t value = 0;
        size_t seen = 0;
        for (; seen < 3 && i + seen < s.size() && s[i + seen] >= '0' && s[i + seen] <= '7'; ++seen)
          value = value * 8 + static_cast<char32_t>(s[i + seen] - '0');
        append_utf8(&out, value);
        i += seen - 1;
      } else if (c == 'N') {
        bad("\\N{...} in a string is not supported");
      } else if (c != '\n') {
        out += '\\';
        out += c;
      }
    }
    return out;
  }

  char32_t hex(std::string_view s, size_t count) {
    char32_t value = 0;
    if (s.size() < count) bad("a string escape that is cut short");
    for (const char c : s) {
      if (!std::isxdigit(static_cast<unsigned char>(c))) bad("a string escape that is no hexadecimal number");
      value = value * 16 + static_cast<char32_t>(is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
    }
    if (value > kLastCodePoint) bad("a string escape beyond U+10FFFF");
    return value;
  }

  void punctuation(std::string* brackets) {
    constexpr std::string_view kOps[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                         "*",  "%",  "~",  "(",  ")",  "[",  "]", "{", "}",
                                         ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
    for (const std::string_view op : kOps) {
      if (!at(op)) continue;
      const char c = op[0];
      if (c == '(' || c == '[' || c == '{') {
        if (brackets->size() > 500) bad("brackets are nested too deep");
        brackets->push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
      } else if (c == ')' || c == ']' || c == '}') {
        if (brackets->empty() || brackets->back() != c) bad(fmt::format("an unexpected '{}'", c));
        brackets->pop_back();
      }
      push(Token::Kind::op, std::string(op));
      return advance(pos_ + op.size());
    }
    const CodePoint c = decode_at(text_, pos_);
    bad(fmt::format("an unexpected character '{}'", text_.substr(pos_, c.bytes)));
  }

  std::string source_;
  std::string_view text_;
  size_t pos_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  return Lexer(unify_lines(source)).run();
}

}  // namespace assay::text::jinja
