// Input: a tokenizer.json, a zero byte, then text. Loading refuses or works; encoding and decoding never
// fail.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using assay::text::AddedTokens;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t cut = input.find('\0');
  const auto tokenizer = assay::text::Tokenizer::parse(input.substr(0, cut));
  if (!tokenizer) {
    CHECK(!tokenizer.reason().empty());
    return 0;
  }
  const std::string_view text = cut == input.npos ? input : input.substr(cut + 1);
  for (const auto mode : {AddedTokens::all, AddedTokens::non_special, AddedTokens::none}) {
    const auto ids = tokenizer->encode(text, mode);
    for (const int32_t id : ids) CHECK(id >= 0 && id < tokenizer->size());
    tokenizer->decode(ids, true);
  }
  return 0;
}
