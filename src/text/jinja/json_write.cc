// Value to JSON text, character for character as Python's json.dumps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/jinja/operations.h"
#include "text/unicode/utf8.h"

namespace assay::text::jinja {
namespace {

class JsonWriter {
 public:
  explicit JsonWriter(const JsonStyle& style)
      : style_(style), indented_(style.indent >= 0 || !style.indent_text.empty()) {}

  String run(const Value& v) {
    value(v, 0);
    spend_bytes(out_.size());
    return std::move(out_);
  }

 private:
  void put(std::string_view text) { out_.append(text, false); }

  void line(int level) {
    if (!indented_) return;
    put("\n");
    for (int i = 0; i < level; ++i)
      put(style_.indent_text.empty() ? std::string(static_cast<size_t>(style_.indent), ' ')
                                     : style_.indent_text);
  }

  void separator(bool* first) {
    if (!*first) put(indented_ && style_.item == ", " ? "," : style_.item);
    *first = false;
  }

  static std::string scalar(const Value& v) {
    switch (v.kind()) {
      case Value::Kind::none:
        return "null";
      case Value::Kind::boolean:
        return v.as_bool() ? "true" : "false";
      case Value::Kind::real: {
        const double real = v.as_real();
        if (std::isnan(real)) return "NaN";
        if (std::isinf(real)) return real < 0 ? "-Infinity" : "Infinity";
        return real_repr(real);
      }
      default:
        break;
    }
    if (is_integer(v)) return to_big(v).str();
    type_error(fmt::format("a value of type {} has no JSON form", type_name(v)));
  }

  void value(const Value& v, int level) {
    spend(1);
    limit_bytes(out_.size());
    if (v.is_string()) return string(v.as_string());
    if (v.is_sequence()) return array(v, level);
    if (v.is_dict()) return object(v, level);
    put(scalar(v));
  }

  void array(const Value& v, int level) {
    if (v.size() == 0) return put("[]");
    put("[");
    bool first = true;
    for (const Value& item : v.items()) {
      separator(&first);
      line(level + 1);
      value(item, level + 1);
    }
    line(level);
    put("]");
  }

  void object(const Value& v, int level) {
    if (v.size() == 0) return put("{}");
    auto entries = v.entries();
    if (style_.sort_keys)
      std::stable_sort(entries.begin(), entries.end(),
                       [](const auto& a, const auto& b) { return compare(a.first, b.first) < 0; });
    put("{");
    bool first = true;
    for (const auto& [key, held] : entries) {
      separator(&first);
      line(level + 1);
      if (key.is_string())
        string(key.as_string());
      else if (key.is_sequence() || key.is_dict())
        type_error("a JSON key must be a string or a number");
      else
        put("\"" + scalar(key) + "\"");
      put(style_.key);
      value(held, level + 1);
    }
    line(level);
    put("}");
  }

  void string(const String& text) {
    put("\"");
    const auto& ranges = text.user_ranges();
    size_t range = 0, plain = 0;
    // Copies what needs no escape in one go, cut where the origin changes.
    const auto copy = [&](size_t end) {
      while (plain < end) {
        while (range < ranges.size() && ranges[range].end <= plain) ++range;
        const bool user = range < ranges.size() && ranges[range].begin <= plain;
        const size_t cut =
            range == ranges.size() ? end : std::min(end, user ? ranges[range].end : ranges[range].begin);
        out_.append(text.view().substr(plain, cut - plain), user);
        plain = cut;
      }
    };
    for (size_t pos = 0; pos < text.size();) {
      const CodePoint c = decode_at(text.view(), pos);
      std::string escape = escaped(c.value);
      if (!escape.empty()) {
        copy(pos);
        out_.append(escape, text.has_user() && text.user_in(pos, pos + 1));
        plain = pos + c.bytes;
      }
      pos += c.bytes;
    }
    copy(text.size());
    put("\"");
    limit_bytes(out_.size());
  }

  std::string escaped(char32_t c) const {
    switch (c) {
      case '"':
        return "\\\"";
      case '\\':
        return "\\\\";
      case '\n':
        return "\\n";
      case '\r':
        return "\\r";
      case '\t':
        return "\\t";
      case '\b':
        return "\\b";
      case '\f':
        return "\\f";
      default:
        break;
    }
    if (c < 0x20) return fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
    if (!style_.ensure_ascii || c < 0x7F) return {};
    if (c < 0x10000) return fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
    const uint32_t rest = static_cast<uint32_t>(c) - 0x10000;
    return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
  }

  const JsonStyle& style_;
  bool indented_;
  String out_;
};

}  // namespace

Result<String> to_json_string(const Value& value, const JsonStyle& style) {
  try {
    return JsonWriter(style).run(value);
  } catch (const Failure& failure) {
    if (failure.kind == FailureKind::budget) throw;
    return Error{failure.message};
  }
}

Result<std::string> to_json(const Value& value, const JsonStyle& style) {
  auto text = to_json_string(value, style);
  if (!text) return text.error();
  return text->bytes();
}

}  // namespace assay::text::jinja
