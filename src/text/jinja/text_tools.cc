// Text operations that methods and filters share. Each keeps the marks of user text.
#include <fmt/format.h>
#include <string.h>

#include <algorithm>

#include "text/jinja/library.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace assay::text::jinja {
namespace {

// Calls each(&bytes, c) for every code point; what it adds has the origin of that code point.
template <class Each>
String map_code_points(const String& text, Each each) {
  String out;
  const auto& ranges = text.user_ranges();
  size_t range = 0;
  std::string mapped;
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint c = decode_at(text.view(), pos);
    while (range < ranges.size() && ranges[range].end <= pos) ++range;
    mapped.clear();
    each(&mapped, c.value);
    out.append(mapped, range < ranges.size() && ranges[range].begin <= pos);
    pos += c.bytes;
  }
  spend_bytes(out.size());
  return out;
}

bool is_final_sigma(std::string_view text, size_t pos) {
  const auto cased = [](char32_t c) { return is_upper(c) || is_lower(c) || category(c) == Category::Lt; };
  size_t before = pos;
  while (before > 0 && (static_cast<uint8_t>(text[--before]) & 0xC0) == 0x80) {
  }
  if (before == pos || !cased(decode_at(text, before).value)) return false;
  const size_t after = pos + 2;
  return after >= text.size() || !cased(decode_at(text, after).value);
}

}  // namespace

String strip(const String& text, const Value* characters, bool left, bool right) {
  std::vector<char32_t> set;
  if (characters != nullptr && !characters->is_none()) {
    if (!characters->is_string()) type_error("strip needs a string of characters");
    const std::string_view chars = characters->as_string().view();
    for (size_t pos = 0; pos < chars.size();) {
      const CodePoint c = decode_at(chars, pos);
      set.push_back(c.value);
      pos += c.bytes;
    }
  }
  const bool spaces = characters == nullptr || characters->is_none();
  const auto goes = [&](char32_t c) {
    return spaces ? is_python_space(c) : std::find(set.begin(), set.end(), c) != set.end();
  };
  size_t begin = 0, end = text.size();
  while (left && begin < end) {
    const CodePoint c = decode_at(text.view(), begin);
    if (!goes(c.value)) break;
    begin += c.bytes;
  }
  while (right && end > begin) {
    size_t start = end - 1;
    while (start > begin && (static_cast<uint8_t>(text.view()[start]) & 0xC0) == 0x80) --start;
    if (!goes(decode_at(text.view(), start).value)) break;
    end = start;
  }
  if (begin == 0 && end == text.size()) return text;
  spend_bytes(end - begin);
  return text.substr(begin, end - begin);
}

String replace_all(const String& text, const String& from, const String& to, int64_t limit) {
  String out;
  size_t done = 0;
  for (int64_t count = 0; limit < 0 || count < limit; ++count) {
    size_t found = text.view().find(from.view(), done);
    if (from.empty()) {
      // Before each character and at the end.
      found = count == 0           ? 0
              : done < text.size() ? done + decode_at(text.view(), done).bytes
                                   : std::string::npos;
    }
    if (found == std::string::npos) break;
    if (found > done) out.append(text.substr(done, found - done));
    out.append(to);
    limit_bytes(out.size());
    done = found + from.size();
  }
  out.append(text.substr(done));
  spend_bytes(out.size());
  return out;
}

String map_case(const String& text, bool upper) {
  if (upper) return map_code_points(text, [](std::string* out, char32_t c) { append_upper(out, c); });
  const std::string_view view = text.view();
  size_t pos = 0;
  return map_code_points(text, [&](std::string* out, char32_t c) {
    if (c == 0x3A3 && is_final_sigma(view, pos))
      append_utf8(out, 0x3C2);
    else
      append_lower(out, c);
    pos += decode_at(view, pos).bytes;
  });
}

String capitalize(const String& text) {
  if (text.empty()) return text;
  const size_t first = decode_at(text.view(), 0).bytes;
  String out = map_code_points(text.substr(0, first), [](std::string* o, char32_t c) { append_title(o, c); });
  out.append(map_case(text.substr(first), false));
  return out;
}

String title_case(const String& text) {
  bool inside = false;
  return map_code_points(text, [&](std::string* out, char32_t c) {
    const bool cased = is_upper(c) || is_lower(c) || category(c) == Category::Lt;
    if (!cased)
      append_utf8(out, c);
    else if (inside)
      append_lower(out, c);
    else
      append_title(out, c);
    inside = cased;
  });
}

std::vector<String> split_lines(const String& text) {
  std::vector<String> out;
  size_t start = 0;
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint c = decode_at(text.view(), pos);
    const bool is_end = (c.value >= 0xA && c.value <= 0xD) || (c.value >= 0x1C && c.value <= 0x1E) ||
                        c.value == 0x85 || c.value == 0x2028 || c.value == 0x2029;
    size_t next = pos + c.bytes;
    if (is_end) {
      if (c.value == '\r' && next < text.size() && text.view()[next] == '\n') ++next;
      out.push_back(text.substr(start, pos - start));
      start = next;
    }
    pos = next;
  }
  if (start < text.size()) out.push_back(text.substr(start));
  spend_values(out.size());
  return out;
}

namespace {

struct Directive {
  bool left = false, zero = false, plus = false;
  int width = 0, precision = -1;
  char kind = 's';
};

std::string format_one(const Directive& d, const Value& v) {
  std::string body;
  if (d.kind == 's' || d.kind == 'r') {
    body = (d.kind == 's' ? to_text(v) : repr(v)).bytes();
    if (d.precision >= 0) body.resize(byte_offset(body, d.precision));
  } else if (d.kind == 'd' || d.kind == 'i') {
    if (!is_number(v)) type_error("%d needs a number");
    body = to_big(v).str();
  } else if (d.kind == 'x') {
    if (!v.is_int() || v.as_int() < 0) type_error("%x needs an integer that is not negative");
    body = fmt::format("{:x}", v.as_int());
  } else if (d.kind == 'f') {
    body = fmt::format("{:.{}f}", to_double(v), std::min(d.precision < 0 ? 6 : d.precision, 60));
  } else {
    type_error(fmt::format("%{} is not supported", d.kind));
  }
  if (d.plus && d.kind != 's' && body[0] != '-') body = "+" + body;
  const size_t length = count_code_points(body);
  const size_t pad = static_cast<size_t>(d.width) > length ? static_cast<size_t>(d.width) - length : 0;
  if (d.left) return body + std::string(pad, ' ');
  const bool zeros = d.zero && d.kind != 's';
  const size_t sign = zeros && (body[0] == '-' || body[0] == '+') ? 1 : 0;
  return body.substr(0, sign) + std::string(pad, zeros ? '0' : ' ') + body.substr(sign);
}

}  // namespace

std::string printf_format(const Value& format, const Value& arguments) {
  const std::string_view f = format.as_string().view();
  const std::vector<Value> list = arguments.is_tuple() ? arguments.items() : std::vector<Value>{arguments};
  size_t used = 0;
  std::string out;
  for (size_t i = 0; i < f.size(); ++i) {
    limit_bytes(out.size());
    if (f[i] != '%') {
      out += f[i];
      continue;
    }
    const auto peek = [&] { return ++i < f.size() ? f[i] : '\0'; };
    char c = peek();
    const Value* picked = nullptr;
    if (c == '(') {
      const size_t close = f.find(')', i);
      if (close == f.npos || !arguments.is_dict()) type_error("a %(name) needs a dict");
      picked = arguments.find(f.substr(i + 1, close - i - 1));
      if (picked == nullptr) type_error("a %(name) that the dict does not have");
      i = close;
      c = peek();
    }
    Directive d;
    for (; c == '-' || c == '0' || c == '+' || c == ' ' || c == '#'; c = peek()) {
      d.left |= c == '-';
      d.zero |= c == '0';
      d.plus |= c == '+';
    }
    for (; c >= '0' && c <= '9'; c = peek()) d.width = std::min(d.width * 10 + (c - '0'), 10000);
    if (c == '.') {
      d.precision = 0;
      for (c = peek(); c >= '0' && c <= '9'; c = peek())
        d.precision = std::min(d.precision * 10 + (c - '0'), 10000);
    }
    if (c == '%') {
      out += '%';
      continue;
    }
    d.kind = c;
    if (picked == nullptr && used == list.size()) type_error("not enough values for the format");
    out += format_one(d, picked != nullptr ? *picked : list[used++]);
  }
  if (!arguments.is_dict() && used < list.size()) type_error("more values than the format takes");
  return out;
}

}  // namespace assay::text::jinja
