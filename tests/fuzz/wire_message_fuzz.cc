// Bytes of a peer through the wire's reader; what decodes must encode to bytes that decode to the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "serve/wire.h"

using namespace assay::serve;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  WireReader reader;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  reader.feed(bytes.substr(0, size / 2));
  for (const std::string_view part : {bytes.substr(size / 2), std::string_view()}) {
    while (true) {
      assay::Result<std::optional<WireMessage>> next = reader.next();
      if (!next) return 0;
      if (!next->has_value()) break;
      WireReader again;
      again.feed(encode_wire(**next));
      assay::Result<std::optional<WireMessage>> back = again.next();
      CHECK(back && back->has_value() && **back == **next);
    }
    reader.feed(part);
  }
  return 0;
}
