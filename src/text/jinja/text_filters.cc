// Filters that make text.
#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/library.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace assay::text::jinja {
namespace {

String to_json_filter(const Value& input, const Arguments& a) {
  a.check("tojson", 4, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ensure_ascii = a.get_flag(0, "ensure_ascii", false);
  if (const Value* indent = a.get(1, "indent"); indent != nullptr && !indent->is_none()) {
    if (indent->is_string())
      style.indent_text = indent->as_string().bytes();
    else
      style.indent = static_cast<int>(std::clamp<int64_t>(to_index(*indent), 0, 100));
  }
  if (const Value* separators = a.get(2, "separators"); separators != nullptr && !separators->is_none()) {
    if (!separators->is_sequence() || separators->size() != 2 || !separators->items()[0].is_string() ||
        !separators->items()[1].is_string())
      type_error("tojson: separators must be two strings");
    style.item = separators->items()[0].as_string().bytes();
    style.key = separators->items()[1].as_string().bytes();
  } else if (style.indent >= 0 || !style.indent_text.empty()) {
    style.item = ",";
  }
  style.sort_keys = a.get_flag(3, "sort_keys", false);
  auto out = to_json_string(input, style);
  if (!out) type_error(out.reason());
  return std::move(*out);
}

Value escape_filter(const Value& input, const Arguments&) {
  const String text = to_text(input);
  if (text.markup) return Value(text);
  String out;
  for (const Value& c : characters(text)) {
    const String& one = c.as_string();
    const std::string_view view = one.view();
    const std::string_view escaped = view == "&"    ? "&amp;"
                                     : view == "<"  ? "&lt;"
                                     : view == ">"  ? "&gt;"
                                     : view == "'"  ? "&#39;"
                                     : view == "\"" ? "&#34;"
                                                    : view;
    out.append(escaped, one.has_user());
  }
  spend_bytes(out.size());
  out.markup = true;
  return Value(std::move(out));
}

Value force_escape_filter(const Value& input, const Arguments& a) {
  String text = to_text(input);
  text.markup = false;
  return escape_filter(Value(std::move(text)), a);
}

Value safe_filter(const Value& input, const Arguments&) {
  String text = to_text(input);
  text.markup = true;
  return Value(std::move(text));
}

Value indent_filter(const Value& input, const Arguments& a) {
  const Value* width = a.get(0, "width");
  const bool first = a.get_flag(1, "first", false), blank = a.get_flag(2, "blank", false);
  if (!input.is_string()) type_error(fmt::format("indent needs a string, not {}", type_name(input)));
  String margin = String::trusted("    ");
  if (width != nullptr && width->is_string())
    margin = width->as_string();
  else if (width != nullptr)
    margin = String::trusted(
        std::string(static_cast<size_t>(std::clamp<int64_t>(to_index(*width), 0, 10000)), ' '));
  String text = input.as_string();
  text.append("\n", false);
  const std::vector<String> lines = split_lines(text);
  String out;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append("\n", false);
    if (i == 0 ? first : blank || !lines[i].empty()) out.append(margin);
    out.append(lines[i]);
    limit_bytes(out.size());
  }
  spend_bytes(out.size());
  return Value(std::move(out));
}

Value join_filter(const Value& input, const Arguments& a) {
  a.check("join", 2, {"d", "attribute"});
  const Value* separator = a.get(0, "d");
  const Value* attribute = a.get(1, "attribute");
  const String between = separator == nullptr ? String() : to_text(*separator);
  String out;
  bool first = true;
  for (const Value& item : iterate(input)) {
    if (!first) out.append(between);
    first = false;
    out.append(to_text(attribute == nullptr || attribute->is_none() ? item : get_item(item, *attribute)));
    limit_bytes(out.size());
  }
  spend_bytes(out.size());
  return Value(std::move(out));
}

Value replace_filter(const Value& input, const Arguments& a) {
  const Value* from = a.get(0, "old");
  const Value* to = a.get(1, "new");
  const Value* count = a.get(2, "count");
  if (from == nullptr || to == nullptr) type_error("replace needs two arguments");
  const int64_t limit = count == nullptr || count->is_none() ? -1 : to_index(*count);
  return Value(replace_all(to_text(input), to_text(*from), to_text(*to), limit));
}

Value format_filter(const Value& input, const Arguments& a) {
  if (!a.named.empty() && !a.positional.empty())
    type_error("format takes either positional or named arguments");
  Value values = Value::tuple(a.positional);
  if (!a.named.empty()) {
    values = Value();
    for (const auto& [key, value] : a.named) values.set(key, value);
  }
  const String format = to_text(input);
  std::string out = printf_format(Value(format), values);
  // Where each byte came from is lost here: user text anywhere makes all of it user text.
  bool user = format.has_user();
  const auto check = [&](const Value& v) {
    user |= v.is_string() ? v.as_string().has_user() : !is_number(v);
  };
  for (const Value& v : a.positional) check(v);
  for (const auto& entry : a.named) check(entry.second);
  return user ? Value(String::user(std::move(out))) : Value::trusted(std::move(out));
}

Value title_filter(const Value& input, const Arguments&) {
  // A word starts behind white space, - and opening brackets.
  String out;
  bool start = true;
  for (const Value& c : characters(to_text(input))) {
    const String& one = c.as_string();
    const char32_t value = decode_at(one.view(), 0).value;
    const bool separator = is_python_space(value) || value == '-' || value == '(' || value == '{' ||
                           value == '[' || value == '<';
    out.append(separator ? one : map_case(one, start));
    start = separator;
  }
  return Value(std::move(out));
}

Value word_count_filter(const Value& input, const Arguments&) {
  int64_t count = 0;
  bool inside = false;
  for (const Value& c : characters(to_text(input))) {
    const char32_t value = decode_at(c.as_string().view(), 0).value;
    const bool word = value == '_' || is_letter(value) || assay::text::is_number(value);
    count += word && !inside;
    inside = word;
  }
  return count;
}

Value truncate_filter(const Value& input, const Arguments& a) {
  const auto number = [&](size_t index, std::string_view name, int64_t otherwise) {
    const Value* v = a.get(index, name);
    return v == nullptr || v->is_none() ? otherwise : to_index(*v);
  };
  const String text = to_text(input);
  const int64_t limit = number(0, "length", 255), leeway = number(3, "leeway", 5);
  const Value* end_value = a.get(2, "end");
  const String end = end_value == nullptr ? String::trusted("...") : to_text(*end_value);
  const auto end_length = static_cast<int64_t>(count_code_points(end.view()));
  if (limit < end_length || leeway < 0) type_error("truncate: length must be at least that of the end");
  if (length(Value(text)) <= limit + leeway) return Value(text);
  String out = text.substr(0, byte_offset(text.view(), limit - end_length));
  if (!a.get_flag(1, "killwords", false))
    if (const size_t space = out.view().rfind(' '); space != std::string::npos) out = out.substr(0, space);
  out.append(end);
  return Value(std::move(out));
}

std::string percent_encode(std::string_view text, bool keep_slash, bool plus) {
  std::string out;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' ||
                       c == '~' || (c == '/' && keep_slash);
    if (plain)
      out += c;
    else if (c == ' ' && plus)
      out += '+';
    else
      out += fmt::format("%{:02X}", static_cast<uint8_t>(c));
  }
  return out;
}

Value urlencode_filter(const Value& input, const Arguments&) {
  if (!input.is_dict() && (input.is_string() || !is_iterable(input)))
    return Value(percent_encode(to_text(input).view(), true, false));
  std::string out;
  const std::vector<Value> pairs = input.is_dict() ? std::vector<Value>() : iterate(input);
  const auto add = [&](const Value& key, const Value& value) {
    if (!out.empty()) out += '&';
    out += percent_encode(to_text(key).view(), false, true) + "=" +
           percent_encode(to_text(value).view(), false, true);
  };
  if (input.is_dict())
    for (const auto& [key, value] : input.entries()) add(key, value);
  for (const Value& pair : pairs) {
    if (!pair.is_sequence() || pair.size() != 2) type_error("urlencode needs pairs");
    add(pair.items()[0], pair.items()[1]);
  }
  return Value(std::move(out));
}

Value center_filter(const Value& input, const Arguments& a) {
  const Value* width = a.get(0, "width");
  return call_string_method(to_text(input), "center", {{width == nullptr ? Value(80) : *width}, {}});
}

Value trim_filter(const Value& input, const Arguments& a) {
  return Value(strip(to_text(input), a.get(0, "chars"), true, true));
}

struct NamedFilter {
  std::string_view name;
  Filter filter;
};
constexpr NamedFilter kFilters[] = {
    {"tojson", [](const Value& v, const Arguments& a) { return Value(to_json_filter(v, a)); }},
    {"trim", trim_filter},
    {"string", [](const Value& v, const Arguments&) { return Value(to_text(v)); }},
    {"upper", [](const Value& v, const Arguments&) { return Value(map_case(to_text(v), true)); }},
    {"lower", [](const Value& v, const Arguments&) { return Value(map_case(to_text(v), false)); }},
    {"capitalize", [](const Value& v, const Arguments&) { return Value(capitalize(to_text(v))); }},
    {"title", title_filter},
    {"join", join_filter},
    {"replace", replace_filter},
    {"indent", indent_filter},
    {"format", format_filter},
    {"safe", safe_filter},
    {"escape", escape_filter},
    {"e", escape_filter},
    {"forceescape", force_escape_filter},
    {"urlencode", urlencode_filter},
    {"wordcount", word_count_filter},
    {"truncate", truncate_filter},
    {"center", center_filter},
};

}  // namespace

Filter find_text_filter(std::string_view name) {
  for (const NamedFilter& f : kFilters)
    if (f.name == name) return f.filter;
  return nullptr;
}

}  // namespace assay::text::jinja
