#pragma once
// UTF-8: bytes to code points and well-formed text. Malformed input becomes U+FFFD, one for each maximal
// subpart (Unicode standard, table 3-7), never an error.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::text {

struct CodePoint {
  char32_t value;  // U+FFFD where malformed
  uint8_t bytes;   // consumed, at least 1
  bool valid;
  bool incomplete;  // the text ended inside a sequence that could still become well formed
};

// Decodes the code point at `pos` < text.size().
CodePoint decode_at(std::string_view text, size_t pos);
void append_utf8(std::string* out, char32_t c);
// The first byte from `pos` on that is not ASCII, or the end.
size_t skip_ascii(std::string_view text, size_t pos);
bool is_valid_utf8(std::string_view text);
// `text` itself when valid, else with U+FFFD for what is malformed.
std::string to_valid_utf8(std::string_view text);
// Number of code points of well-formed text.
size_t count_code_points(std::string_view text);

// Joins byte pieces to well-formed text as early as possible.
class Utf8Stream {
 public:
  std::string push(std::string_view bytes);
  // One U+FFFD if an incomplete sequence was held back, else nothing.
  std::string flush();

 private:
  std::string held_;  // a proper prefix of a well-formed sequence, at most 3 bytes
};

}  // namespace assay::text
