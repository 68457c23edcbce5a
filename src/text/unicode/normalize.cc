#include "text/unicode/normalize.h"

#include <utf8proc.h>

#include <cstdint>
#include <vector>

#include "base/check.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace assay::text {
namespace {

int options_of(NormalForm form) {
  switch (form) {
    case NormalForm::nfc:
      return UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    case NormalForm::nfd:
      return UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
    case NormalForm::nfkc:
      return UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
    case NormalForm::nfkd:
      return UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
  }
  return 0;
}

void append_normalized(std::string* out, std::string_view part, int options, std::vector<int32_t>* buffer) {
  if (part.empty()) return;
  const auto flags = static_cast<utf8proc_option_t>(options);
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(part.data());
  const auto size = static_cast<utf8proc_ssize_t>(part.size());
  const utf8proc_ssize_t needed = utf8proc_decompose(bytes, size, nullptr, 0, flags);
  CHECK(needed >= 0, "utf8proc: {}", utf8proc_errmsg(needed));
  buffer->resize(static_cast<size_t>(needed) + 1);
  utf8proc_ssize_t length = utf8proc_decompose(bytes, size, buffer->data(), needed, flags);
  if (options & UTF8PROC_COMPOSE) length = utf8proc_normalize_utf32(buffer->data(), length, flags);
  CHECK(length >= 0, "utf8proc: {}", utf8proc_errmsg(length));
  for (utf8proc_ssize_t i = 0; i < length; ++i)
    append_utf8(out, static_cast<char32_t>((*buffer)[static_cast<size_t>(i)]));
}

bool is_inert_in_nfc(char32_t c) {
  if (c < 0x300 || (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xAC00 && c <= 0xD7A3)) return true;
  if (c >= 0x1100 && c <= 0x11FF) return false;
  if (is_normalised_after9(c)) return true;
  const utf8proc_property_t* p = utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
  return p->combining_class == 0 && p->decomp_seqindex == UINT16_MAX && p->comb_index == UINT16_MAX;
}

}  // namespace

bool is_surely_nfc(std::string_view text) {
  for (size_t pos = skip_ascii(text, 0); pos < text.size(); pos = skip_ascii(text, pos)) {
    if (static_cast<uint8_t>(text[pos]) < 0xCC) {  // U+0080 to U+02FF
      pos += 2;
      continue;
    }
    const CodePoint c = decode_at(text, pos);
    if (!is_inert_in_nfc(c.value)) return false;
    pos += c.bytes;
  }
  return true;
}

std::string normalize(std::string_view text, NormalForm form) {
  if (form == NormalForm::nfc && is_surely_nfc(text)) return std::string(text);
  const int options = options_of(form);
  std::string out;
  out.reserve(text.size());
  std::vector<int32_t> buffer;
  size_t start = 0;
  // A newer code point counts as a starter that never joins: it ends one stretch and begins the next.
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint c = decode_at(text, pos);
    if (c.value >= 0x300 && is_normalised_after9(c.value)) {
      append_normalized(&out, text.substr(start, pos - start), options, &buffer);
      out.append(text.substr(pos, c.bytes));
      start = pos + c.bytes;
    }
    pos += c.bytes;
  }
  append_normalized(&out, text.substr(start), options, &buffer);
  return out;
}

}  // namespace assay::text
