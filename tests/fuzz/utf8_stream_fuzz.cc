// Input: bytes. However they are cut, the stream gives what decoding at once gives; normalising keeps text
// well formed, and the stop matcher's answer does not depend on the cuts.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "text/stop_matcher.h"
#include "text/unicode/normalize.h"
#include "text/unicode/utf8.h"

namespace {

using namespace assay::text;

std::string stopped(std::string_view text, size_t step, const std::vector<std::string>& stops) {
  StopMatcher matcher(stops);
  std::string out;
  for (size_t i = 0; i < text.size(); i += step) {
    const auto piece = matcher.push(text.substr(i, step));
    out += piece.text;
    if (piece.matched) return out + "|" + piece.stop;
  }
  return out + matcher.flush();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = to_valid_utf8(bytes);
  CHECK(is_valid_utf8(whole));
  for (const size_t step : {1, 2, 3, 7}) {
    Utf8Stream stream;
    std::string joined;
    for (size_t i = 0; i < bytes.size(); i += step) {
      joined += stream.push(bytes.substr(i, step));
      CHECK(is_valid_utf8(joined) && joined.size() + 9 >= i);
    }
    CHECK(joined + stream.flush() == whole);
  }
  for (const auto form : {NormalForm::nfc, NormalForm::nfd, NormalForm::nfkc, NormalForm::nfkd}) {
    const std::string once = normalize(whole, form);
    CHECK(is_valid_utf8(once) && normalize(once, form) == once);
  }
  const std::vector<std::string> stops = {std::string(bytes.substr(0, 3)),
                                          std::string(bytes.substr(bytes.size() / 2, 2))};
  const std::string_view rest = bytes.substr(std::min<size_t>(bytes.size(), 3));
  CHECK(stopped(rest, 1, stops) == stopped(rest, 5, stops));
  return 0;
}
