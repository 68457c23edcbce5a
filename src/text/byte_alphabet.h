#pragma once
// The byte alphabet of GPT-2: each byte is written as one printable character, so that vocabularies are plain
// text.
#include <optional>
#include <string>
#include <string_view>

namespace assay::text {

// The bytes that `text` spells, or nothing if a character is not in the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view text);
std::string to_byte_alphabet(std::string_view bytes);

}  // namespace assay::text
