// str() and repr() as Python writes them.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "text/jinja/operations.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace assay::text::jinja {
namespace {

void append_trusted(String* out, std::string_view text) {
  out->append(text, false);
}

void append_repr(String* out, const Value& v);

void append_string_repr(String* out, const String& text) {
  const bool has_single = text.bytes().find('\'') != std::string::npos;
  const bool has_double = text.bytes().find('"') != std::string::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  append_trusted(out, std::string_view(&quote, 1));
  const auto& ranges = text.user_ranges();
  size_t range = 0;
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint c = decode_at(text.view(), pos);
    while (range < ranges.size() && ranges[range].end <= pos) ++range;
    const bool user = range < ranges.size() && ranges[range].begin <= pos;
    if (c.value == static_cast<char32_t>(quote) || c.value == '\\')
      out->append(fmt::format("\\{}", static_cast<char>(c.value)), user);
    else if (c.value == '\n')
      out->append("\\n", user);
    else if (c.value == '\r')
      out->append("\\r", user);
    else if (c.value == '\t')
      out->append("\\t", user);
    else if (is_printable(c.value))
      out->append(text.view().substr(pos, c.bytes), user);
    else if (c.value < 0x100)
      out->append(fmt::format("\\x{:02x}", static_cast<uint32_t>(c.value)), user);
    else if (c.value < 0x10000)
      out->append(fmt::format("\\u{:04x}", static_cast<uint32_t>(c.value)), user);
    else
      out->append(fmt::format("\\U{:08x}", static_cast<uint32_t>(c.value)), user);
    pos += c.bytes;
  }
  append_trusted(out, std::string_view(&quote, 1));
  limit_bytes(out->size());
}

void append_items(String* out, std::string_view open, const std::vector<Value>& items,
                  std::string_view close) {
  append_trusted(out, open);
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) append_trusted(out, ", ");
    append_repr(out, items[i]);
  }
  append_trusted(out, close);
}

template <class Entries>
void append_entries(String* out, const Entries& entries) {
  append_trusted(out, "{");
  bool first = true;
  for (const auto& [key, value] : entries) {
    if (!first) append_trusted(out, ", ");
    first = false;
    append_repr(out, Value(key));
    append_trusted(out, ": ");
    append_repr(out, value);
  }
  append_trusted(out, "}");
}

// A namespace may hold itself.
void append_space(String* out, const SpaceObject& space) {
  constexpr int kMaxInside = 16;
  thread_local int inside = 0;
  struct Leave {
    ~Leave() { --inside; }
  } leave;
  if (++inside > kMaxInside) fail(FailureKind::budget, "a namespace that holds itself cannot be printed");
  append_trusted(out, "<Namespace ");
  std::vector<std::pair<Value, Value>> entries;
  for (const auto& [name, value] : space.attributes) entries.emplace_back(Value::trusted(name), value);
  append_entries(out, entries);
  append_trusted(out, ">");
}

void append_object(String* out, const Value& v) {
  if (const BigObject* big = as_big(v)) return append_trusted(out, big->value.str());
  if (const RangeObject* range = as_range(v)) {
    if (range->step == 1) return append_trusted(out, fmt::format("range({}, {})", range->begin, range->end));
    return append_trusted(out, fmt::format("range({}, {}, {})", range->begin, range->end, range->step));
  }
  if (as_view(v)) {
    append_trusted(out, type_name(v));
    append_trusted(out, "(");
    append_items(out, "[", iterate(v), "]");
    return append_trusted(out, ")");
  }
  if (const SpaceObject* space = as_space(v)) return append_space(out, *space);
  append_trusted(out, fmt::format("<{}>", type_name(v)));
}

void append_repr(String* out, const Value& v) {
  spend(1);
  limit_bytes(out->size());
  switch (v.kind()) {
    case Value::Kind::undefined:
      return append_trusted(out, "Undefined");
    case Value::Kind::none:
      return append_trusted(out, "None");
    case Value::Kind::boolean:
      return append_trusted(out, v.as_bool() ? "True" : "False");
    case Value::Kind::integer:
      return append_trusted(out, fmt::format("{}", v.as_int()));
    case Value::Kind::real:
      return append_trusted(out, real_repr(v.as_real()));
    case Value::Kind::string:
      return append_string_repr(out, v.as_string());
    case Value::Kind::list:
      if (v.is_tuple()) return append_items(out, "(", v.items(), v.size() == 1 ? ",)" : ")");
      return append_items(out, "[", v.items(), "]");
    case Value::Kind::dict:
      return append_entries(out, v.entries());
    case Value::Kind::object:
      return append_object(out, v);
  }
}

}  // namespace

std::string real_repr(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific).ptr;
  std::string text(buffer, end);  // d.ddde+XX, shortest that reads back
  const size_t e = text.find('e');
  const int exponent = std::stoi(text.substr(e + 1));
  if (exponent < -4 || exponent >= 16) {
    const int size = exponent < 0 ? -exponent : exponent;
    return fmt::format("{}e{}{:02d}", text.substr(0, e), exponent < 0 ? '-' : '+', size);
  }
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::fixed).ptr;
  text.assign(buffer, fixed);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

String repr(const Value& v) {
  String out;
  append_repr(&out, v);
  spend_bytes(out.size());
  return out;
}

String to_text(const Value& v) {
  if (v.is_string()) return v.as_string();
  return v.is_undefined() ? String() : repr(v);
}

}  // namespace assay::text::jinja
