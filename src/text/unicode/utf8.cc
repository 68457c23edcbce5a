#include "text/unicode/utf8.h"

#include <cstring>

namespace assay::text {
namespace {

// Bounds of the second byte after `lead` (Unicode standard, table 3-7) and the length of the sequence; 0 if
// no lead.
struct Lead {
  uint8_t length, low, high;
};
Lead lead_of(uint8_t lead) {
  if (lead < 0xC2 || lead > 0xF4) return {0, 0, 0};
  if (lead < 0xE0) return {2, 0x80, 0xBF};
  if (lead < 0xF0)
    return {3, static_cast<uint8_t>(lead == 0xE0 ? 0xA0 : 0x80),
            static_cast<uint8_t>(lead == 0xED ? 0x9F : 0xBF)};
  return {4, static_cast<uint8_t>(lead == 0xF0 ? 0x90 : 0x80),
          static_cast<uint8_t>(lead == 0xF4 ? 0x8F : 0xBF)};
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

CodePoint decode_at(std::string_view text, size_t pos) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[pos + i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1, true, false};
  const Lead lead = lead_of(first);
  if (lead.length == 0) return {0xFFFD, 1, false, false};
  char32_t value = first & (0xFFu >> (lead.length + 1));
  for (uint8_t i = 1; i < lead.length; ++i) {
    if (pos + i >= text.size()) return {0xFFFD, i, false, true};
    const uint8_t low = i == 1 ? lead.low : 0x80, high = i == 1 ? lead.high : 0xBF;
    if (byte(i) < low || byte(i) > high) return {0xFFFD, i, false, false};
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  return {value, lead.length, true, false};
}

void append_utf8(std::string* out, char32_t c) {
  if (c >= 0xD800 && c < 0xE000) c = 0xFFFD;
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out->push_back(static_cast<char>(0xC0 | (c >> 6)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | (c >> 12)));
    out->push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    out->push_back(static_cast<char>(0xF0 | (c >> 18)));
    out->push_back(static_cast<char>(0x80 | ((c >> 12) & 0x3F)));
    out->push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
}

size_t skip_ascii(std::string_view text, size_t pos) {
  for (uint64_t word = 0; pos + 8 <= text.size(); pos += 8) {
    std::memcpy(&word, text.data() + pos, 8);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  while (pos < text.size() && static_cast<uint8_t>(text[pos]) < 0x80) ++pos;
  return pos;
}

bool is_valid_utf8(std::string_view text) {
  for (size_t pos = skip_ascii(text, 0); pos < text.size(); pos = skip_ascii(text, pos)) {
    const CodePoint c = decode_at(text, pos);
    if (!c.valid) return false;
    pos += c.bytes;
  }
  return true;
}

std::string to_valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint c = decode_at(text, pos);
    out.append(c.valid ? text.substr(pos, c.bytes) : kReplacement);
    pos += c.bytes;
  }
  return out;
}

size_t count_code_points(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<uint8_t>(c) & 0xC0) != 0x80;
  return count;
}

std::string Utf8Stream::push(std::string_view bytes) {
  std::string joined;
  if (!held_.empty()) {
    joined = held_ + std::string(bytes);
    held_.clear();
    bytes = joined;
  }
  std::string out;
  out.reserve(bytes.size());
  for (size_t pos = 0; pos < bytes.size();) {
    const CodePoint c = decode_at(bytes, pos);
    if (c.incomplete) {
      held_ = bytes.substr(pos);
      break;
    }
    out.append(c.valid ? bytes.substr(pos, c.bytes) : kReplacement);
    pos += c.bytes;
  }
  return out;
}

std::string Utf8Stream::flush() {
  const bool held = !held_.empty();
  held_.clear();
  return held ? std::string(kReplacement) : std::string();
}

}  // namespace assay::text
