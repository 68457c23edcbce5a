// A safetensors header against a data length taken from its first bytes: refused or consistent, never a
// crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "checkpoint/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  uint16_t length = 0;
  std::memcpy(&length, data, 2);
  const std::string_view json(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto entries = assay::checkpoint::parse_safetensors_header(json, length);
  if (!entries) return 0;
  uint64_t covered = 0;
  for (const auto& entry : *entries) {
    if (entry.begin > entry.end || entry.end > length) std::abort();
    covered += entry.end - entry.begin;
  }
  if (covered != length) std::abort();  // every byte belongs to exactly one tensor
  return 0;
}
