#include "text/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "text/unicode/utf8.h"

namespace assay::text {
namespace {

// Bytes 33-126, 161-172 and 174-255 stand for themselves; the other 68 are U+0100... in byte order.
struct Alphabet {
  std::array<char32_t, 256> character{};
  std::array<int16_t, 0x144> byte{};
  constexpr Alphabet() {
    for (int16_t& b : byte) b = -1;
    char32_t next = 0x100;
    for (char32_t b = 0; b < 256; ++b) {
      const bool itself = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
      character[b] = itself ? b : next++;
      byte[character[b]] = static_cast<int16_t>(b);
    }
  }
};
constexpr Alphabet kAlphabet;

}  // namespace

std::optional<std::string> from_byte_alphabet(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint c = decode_at(text, pos);
    if (!c.valid || c.value >= kAlphabet.byte.size() || kAlphabet.byte[c.value] < 0) return std::nullopt;
    out.push_back(static_cast<char>(kAlphabet.byte[c.value]));
    pos += c.bytes;
  }
  return out;
}

std::string to_byte_alphabet(std::string_view bytes) {
  std::string out;
  for (const char b : bytes) append_utf8(&out, kAlphabet.character[static_cast<uint8_t>(b)]);
  return out;
}

}  // namespace assay::text
