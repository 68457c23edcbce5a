#include "engine/draw.h"

namespace assay::engine {
namespace {

uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace

double uniform_draw(uint64_t seed, uint32_t choice, uint64_t position, DrawPurpose purpose) {
  uint64_t x = mix(seed);
  x = mix(x ^ choice);
  x = mix(x ^ static_cast<uint64_t>(purpose));
  x = mix(x ^ position);
  return static_cast<double>(x >> 11) * 0x1p-53;
}

}  // namespace assay::engine
