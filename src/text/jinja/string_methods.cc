// The methods of Python's str that templates use.
#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <limits>

#include "text/jinja/library.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace assay::text::jinja {
namespace {

using Method = Value (*)(const String& text, const Arguments& arguments);

const String& text_argument(const Arguments& a, size_t index, std::string_view name) {
  const Value* v = a.get(index, name);
  if (v == nullptr) type_error(fmt::format("the argument '{}' is missing", name));
  require_defined(*v);
  if (!v->is_string()) type_error(fmt::format("a string is needed, not {}", type_name(*v)));
  return v->as_string();
}

int64_t index_argument(const Arguments& a, size_t index, std::string_view name, int64_t otherwise) {
  const Value* v = a.get(index, name);
  return v == nullptr || v->is_none() ? otherwise : to_index(*v);
}

Value from_strings(std::vector<String> parts) {
  std::vector<Value> out;
  for (String& part : parts) out.emplace_back(std::move(part));
  return Value::list(std::move(out));
}

std::vector<String> split_spaces(const String& text, int64_t limit) {
  std::vector<String> out;
  size_t pos = 0;
  const auto skip = [&](bool space) {
    while (pos < text.size()) {
      const CodePoint c = decode_at(text.view(), pos);
      if (is_python_space(c.value) != space) break;
      pos += c.bytes;
    }
  };
  for (skip(true); pos < text.size(); skip(true)) {
    if (limit >= 0 && static_cast<int64_t>(out.size()) == limit) {
      out.push_back(text.substr(pos));
      break;
    }
    const size_t begin = pos;
    skip(false);
    out.push_back(text.substr(begin, pos - begin));
  }
  return out;
}

std::vector<String> split_spaces_right(const String& text, int64_t limit) {
  std::vector<String> words = split_spaces(text, -1);
  if (limit < 0 || static_cast<int64_t>(words.size()) <= limit) return words;
  // Cut off `limit` words from the right; the rest stays as it is.
  String rest = strip(text, nullptr, false, true);
  std::vector<String> out;
  for (int64_t i = 0; i < limit; ++i) {
    out.push_back(words[words.size() - 1 - static_cast<size_t>(i)]);
    rest = strip(rest.substr(0, rest.size() - out.back().size()), nullptr, false, true);
  }
  if (!rest.empty()) out.push_back(rest);
  std::reverse(out.begin(), out.end());
  return out;
}

Value split_text(const String& text, const Arguments& a, bool right) {
  a.check("split", 2, {"sep", "maxsplit"});
  const Value* separator = a.get(0, "sep");
  const int64_t limit = index_argument(a, 1, "maxsplit", -1);
  spend_values(text.size() / 8);
  if (separator == nullptr || separator->is_none())
    return from_strings(right ? split_spaces_right(text, limit) : split_spaces(text, limit));
  const String& sep = text_argument(a, 0, "sep");
  if (sep.empty()) type_error("an empty separator");
  std::vector<String> out;
  size_t begin = 0, end = text.size();
  while (limit < 0 || static_cast<int64_t>(out.size()) < limit) {
    const size_t found =
        right ? text.view().substr(0, end).rfind(sep.view()) : text.view().find(sep.view(), begin);
    if (found == std::string::npos) break;
    if (right) {
      out.push_back(text.substr(found + sep.size(), end - found - sep.size()));
      end = found;
    } else {
      out.push_back(text.substr(begin, found - begin));
      begin = found + sep.size();
    }
  }
  out.push_back(text.substr(begin, end - begin));
  if (right) std::reverse(out.begin(), out.end());
  return from_strings(std::move(out));
}

// The part of the text that start and end arguments (1 and 2) leave, as bytes.
std::string_view window(const String& text, const Arguments& a, size_t* offset) {
  const std::string_view view = text.view();
  *offset = 0;
  if (a.positional.size() < 2) return view;
  const auto length = static_cast<int64_t>(count_code_points(view));
  const auto clamp = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + length : i, 0, length); };
  const int64_t begin = clamp(std::max(index_argument(a, 1, "start", 0), -length));
  const int64_t end = clamp(std::max(index_argument(a, 2, "end", length), -length));
  *offset = byte_offset(view, begin);
  return begin > end ? view.substr(0, 0) : view.substr(*offset, byte_offset(view, end) - *offset);
}

Value find_text(const String& text, const Arguments& a, bool right) {
  size_t offset = 0;
  const std::string_view view = window(text, a, &offset);
  const std::string_view part = text_argument(a, 0, "sub").view();
  spend_bytes(text.size() / 16);
  const size_t found = right ? view.rfind(part) : view.find(part);
  if (found == view.npos) return Value(-1);
  return static_cast<int64_t>(count_code_points(text.view().substr(0, offset + found)));
}

Value has_affix(const String& text, const Arguments& a, bool at_start) {
  size_t offset = 0;
  const std::string_view view = window(text, a, &offset);
  const Value* affix = a.get(0, "prefix");
  if (affix == nullptr) type_error("an argument is missing");
  require_defined(*affix);
  const std::vector<Value> options = affix->is_tuple() ? affix->items() : std::vector<Value>{*affix};
  return std::any_of(options.begin(), options.end(), [&](const Value& option) {
    if (!option.is_string())
      type_error(fmt::format("a string or a tuple of strings is needed, not {}", type_name(option)));
    return at_start ? view.starts_with(option.as_string().view()) : view.ends_with(option.as_string().view());
  });
}

Value count_text(const String& text, const Arguments& a) {
  size_t offset = 0;
  const std::string_view view = window(text, a, &offset);
  const std::string_view part = text_argument(a, 0, "sub").view();
  if (part.empty()) return static_cast<int64_t>(count_code_points(view)) + 1;
  int64_t count = 0;
  for (size_t pos = view.find(part); pos != view.npos; pos = view.find(part, pos + part.size())) ++count;
  return count;
}

Value join_texts(const String& text, const Arguments& a) {
  const Value* list = a.get(0, "iterable");
  if (list == nullptr) type_error("join needs an argument");
  String out;
  size_t index = 0;
  for (const Value& item : iterate(*list)) {
    if (!item.is_string())
      type_error(fmt::format("join: item {} is no string but {}", index, type_name(item)));
    if (index++ > 0) out.append(text);
    out.append(item.as_string());
    limit_bytes(out.size());
  }
  spend_bytes(out.size());
  return Value(std::move(out));
}

Value replace_text(const String& text, const Arguments& a) {
  a.check("replace", 3, {"count"});
  return Value(replace_all(text, text_argument(a, 0, "old"), text_argument(a, 1, "new"),
                           index_argument(a, 2, "count", -1)));
}

Value cut_affix(const String& text, const Arguments& a, bool at_start) {
  const String& affix = text_argument(a, 0, "prefix");
  if (affix.size() > text.size()) return Value(text);
  if (at_start) return Value(text.view().starts_with(affix.view()) ? text.substr(affix.size()) : text);
  return Value(text.view().ends_with(affix.view()) ? text.substr(0, text.size() - affix.size()) : text);
}

Value partition(const String& text, const Arguments& a, bool right) {
  const String& sep = text_argument(a, 0, "sep");
  if (sep.empty()) type_error("an empty separator");
  const size_t found = right ? text.view().rfind(sep.view()) : text.view().find(sep.view());
  if (found == std::string::npos) {
    const Value empty = Value::trusted("");
    return right ? Value::tuple({empty, empty, Value(text)}) : Value::tuple({Value(text), empty, empty});
  }
  return Value::tuple({Value(text.substr(0, found)), Value(sep), Value(text.substr(found + sep.size()))});
}

// side: -1 text left, 0 centre, 1 text right.
Value pad(const String& text, const Arguments& a, int side) {
  const Value* width_value = a.get(0, "width");
  if (width_value == nullptr) type_error("a width is missing");
  const int64_t width = to_index(*width_value);
  const String fill =
      a.get(1, "fillchar") != nullptr ? text_argument(a, 1, "fillchar") : String::trusted(" ");
  if (count_code_points(fill.view()) != 1) type_error("the fill must be one character");
  const auto length = static_cast<int64_t>(count_code_points(text.view()));
  if (width <= length) return Value(text);
  const int64_t missing = width - length;
  limit_bytes(static_cast<size_t>(missing) * fill.size());
  if (missing > (8 << 20)) fail(FailureKind::budget, "a text of that width");
  const int64_t left = side < 0 ? 0 : side > 0 ? missing : missing / 2 + (missing & width & 1);
  String out;
  for (int64_t i = 0; i < left; ++i) out.append(fill);
  out.append(text);
  for (int64_t i = left; i < missing; ++i) out.append(fill);
  spend_bytes(out.size());
  return Value(std::move(out));
}

Value zero_fill(const String& text, const Arguments& a) {
  Arguments zero{{a.get(0, "width") ? *a.get(0, "width") : Value(), Value::trusted("0")}, {}};
  const bool sign = !text.empty() && (text.view()[0] == '-' || text.view()[0] == '+');
  if (!sign) return pad(text, zero, 1);
  zero.positional[0] = Value(to_index(zero.positional[0]) - 1);
  String out = text.substr(0, 1);
  out.append(pad(text.substr(1), zero, 1).as_string());
  return Value(std::move(out));
}

template <class Test>
bool all_of(const String& text, Test test) {
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint c = decode_at(text.view(), pos);
    if (!test(c.value)) return false;
    pos += c.bytes;
  }
  return !text.empty();
}

bool has_cased(const String& text, bool upper) {
  bool seen = false;
  const bool ok = all_of(text, [&](char32_t c) {
    const bool is_up = is_upper(c) || category(c) == Category::Lt;
    seen |= upper ? is_upper(c) : is_lower(c);
    return upper ? !is_lower(c) && category(c) != Category::Lt : !is_up;
  });
  return ok && seen;
}

bool is_digit_character(char32_t c) {
  return category(c) == Category::Nd || c == 0xB2 || c == 0xB3 || c == 0xB9 || c == 0x2070 ||
         (c >= 0x2074 && c <= 0x2079) || (c >= 0x2080 && c <= 0x2089);
}

Value lines(const String& text, const Arguments& a) {
  if (a.get_flag(0, "keepends", false))
    fail(FailureKind::unsupported, "splitlines(keepends) is not supported");
  return from_strings(split_lines(text));
}

// '{}', '{0}', '{name}' and '{{'; format specifications are not supported.
Value format_braces(const String& text, const Arguments& a) {
  String out;
  size_t next = 0, done = 0;
  const std::string_view f = text.view();
  for (size_t i = 0; i < f.size(); ++i) {
    if (f[i] != '{' && f[i] != '}') continue;
    out.append(text.substr(done, i - done));
    if (i + 1 < f.size() && f[i + 1] == f[i]) {
      out.append(text.substr(i++, 1));
      done = i + 1;
      continue;
    }
    const size_t close = f.find('}', i);
    if (f[i] == '}' || close == f.npos) type_error("a single brace in a format");
    const std::string_view field = f.substr(i + 1, close - i - 1);
    if (field.find_first_of(":!.[{") != field.npos)
      fail(FailureKind::unsupported, "format() with a conversion or specification is not supported");
    const bool number =
        !field.empty() && field.find_first_not_of("0123456789") == field.npos && field.size() < 6;
    if (field.empty() && next == std::string::npos)
      type_error("format() mixes numbered and automatic fields");
    if (number && next != std::string::npos && next > 0)
      type_error("format() mixes numbered and automatic fields");
    const size_t index = number          ? static_cast<size_t>(std::stoi(std::string(field)))
                         : field.empty() ? next++
                                         : 1u << 30;
    if (number) next = std::string::npos;
    const Value* v = a.get(index, field);
    if (v == nullptr) type_error("a format field without a value");
    out.append(to_text(*v));
    limit_bytes(out.size());
    done = close + 1;
    i = close;
  }
  out.append(text.substr(done));
  return Value(std::move(out));
}

Value index_text(const String& text, const Arguments& a, bool right) {
  const Value at = find_text(text, a, right);
  if (at.as_int() < 0) type_error("the text does not contain that");
  return at;
}

Value swap_case(const String& text) {
  String out;
  for (const Value& c : characters(text)) {
    const String& one = c.as_string();
    out.append(map_case(one, !is_upper(decode_at(one.view(), 0).value)));
  }
  return Value(std::move(out));
}

Value expand_tabs(const String& text, const Arguments& a) {
  const int64_t size = std::min<int64_t>(index_argument(a, 0, "tabsize", 8), 1000);
  String out;
  int64_t column = 0;
  for (const Value& c : characters(text)) {
    const std::string_view one = c.as_string().view();
    if (one == "\t") {
      const int64_t count = size > 0 ? size - column % size : 0;
      out.append(std::string(static_cast<size_t>(count), ' '), false);
      column += count;
      limit_bytes(out.size());
    } else {
      out.append(c.as_string());
      column = one == "\n" || one == "\r" ? 0 : column + 1;
    }
  }
  return Value(std::move(out));
}

struct NamedMethod {
  std::string_view name;
  Method method;
};

constexpr NamedMethod kMethods[] = {
    {"strip",
     [](const String& t, const Arguments& a) { return Value(strip(t, a.get(0, "chars"), true, true)); }},
    {"lstrip",
     [](const String& t, const Arguments& a) { return Value(strip(t, a.get(0, "chars"), true, false)); }},
    {"rstrip",
     [](const String& t, const Arguments& a) { return Value(strip(t, a.get(0, "chars"), false, true)); }},
    {"split", [](const String& t, const Arguments& a) { return split_text(t, a, false); }},
    {"rsplit", [](const String& t, const Arguments& a) { return split_text(t, a, true); }},
    {"splitlines", lines},
    {"startswith", [](const String& t, const Arguments& a) { return has_affix(t, a, true); }},
    {"endswith", [](const String& t, const Arguments& a) { return has_affix(t, a, false); }},
    {"replace", replace_text},
    {"join", join_texts},
    {"find", [](const String& t, const Arguments& a) { return find_text(t, a, false); }},
    {"rfind", [](const String& t, const Arguments& a) { return find_text(t, a, true); }},
    {"index", [](const String& t, const Arguments& a) { return index_text(t, a, false); }},
    {"rindex", [](const String& t, const Arguments& a) { return index_text(t, a, true); }},
    {"count", count_text},
    {"upper", [](const String& t, const Arguments&) { return Value(map_case(t, true)); }},
    {"lower", [](const String& t, const Arguments&) { return Value(map_case(t, false)); }},
    {"casefold", [](const String& t, const Arguments&) { return Value(map_case(t, false)); }},
    {"capitalize", [](const String& t, const Arguments&) { return Value(capitalize(t)); }},
    {"title", [](const String& t, const Arguments&) { return Value(title_case(t)); }},
    {"swapcase", [](const String& t, const Arguments&) { return swap_case(t); }},
    {"removeprefix", [](const String& t, const Arguments& a) { return cut_affix(t, a, true); }},
    {"removesuffix", [](const String& t, const Arguments& a) { return cut_affix(t, a, false); }},
    {"partition", [](const String& t, const Arguments& a) { return partition(t, a, false); }},
    {"rpartition", [](const String& t, const Arguments& a) { return partition(t, a, true); }},
    {"ljust", [](const String& t, const Arguments& a) { return pad(t, a, -1); }},
    {"center", [](const String& t, const Arguments& a) { return pad(t, a, 0); }},
    {"rjust", [](const String& t, const Arguments& a) { return pad(t, a, 1); }},
    {"zfill", zero_fill},
    {"expandtabs", expand_tabs},
    {"format", format_braces},
    {"isdigit", [](const String& t, const Arguments&) { return Value(all_of(t, is_digit_character)); }},
    {"isdecimal",
     [](const String& t, const Arguments&) {
       return Value(all_of(t, [](char32_t c) { return category(c) == Category::Nd; }));
     }},
    {"isnumeric", [](const String& t, const Arguments&) { return Value(all_of(t, assay::text::is_number)); }},
    {"isalpha", [](const String& t, const Arguments&) { return Value(all_of(t, is_letter)); }},
    {"isalnum",
     [](const String& t, const Arguments&) {
       return Value(all_of(t, [](char32_t c) { return is_letter(c) || assay::text::is_number(c); }));
     }},
    {"isspace", [](const String& t, const Arguments&) { return Value(all_of(t, is_python_space)); }},
    {"isprintable",
     [](const String& t, const Arguments&) { return Value(t.empty() || all_of(t, is_printable)); }},
    {"isascii",
     [](const String& t, const Arguments&) {
       return Value(t.empty() || all_of(t, [](char32_t c) { return c < 0x80; }));
     }},
    {"isupper", [](const String& t, const Arguments&) { return Value(has_cased(t, true)); }},
    {"islower", [](const String& t, const Arguments&) { return Value(has_cased(t, false)); }},
    {"isidentifier",
     [](const String& t, const Arguments&) {
       return Value(all_of(t, is_word) && category(decode_at(t.view(), 0).value) != Category::Nd);
     }},
};

Method find_string_method(std::string_view name) {
  for (const NamedMethod& m : kMethods)
    if (m.name == name) return m.method;
  return nullptr;
}

}  // namespace

bool has_string_method(std::string_view name) {
  return find_string_method(name) != nullptr;
}

Value call_string_method(const String& text, std::string_view name, const Arguments& arguments) {
  return find_string_method(name)(text, arguments);
}

bool is_refused_method(std::string_view name) {
  for (const char* refused : {"maketrans", "translate", "encode", "format_map", "istitle", "fromhex",
                              "to_bytes", "bit_length", "as_integer_ratio", "conjugate", "hex"})
    if (name == refused) return true;
  return false;
}

}  // namespace assay::text::jinja
