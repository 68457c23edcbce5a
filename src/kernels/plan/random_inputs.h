#pragma once
// Inputs for proofs and tests: stored weights in every format, and activations of every awkward kind.
#include <random>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "tensor/quant_view.h"

namespace assay::kernels {

// Uniform random codes (no NaN, no infinities) with scales of ordinary size: every code of the format occurs.
QuantView random_weight(WeightFormat format, int64_t rows, int64_t cols, std::mt19937& rng, Arena& arena);

enum class ValueKind : uint8_t {
  normal,
  heavy_tailed,  // Student's t with 2 degrees of freedom
  all_equal,
  one_hot,   // one 1 among zeros per 64 values
  denormal,  // around 1e-40
  tiny,      // around 1e-30
  large,     // around 1e10
  zeros,
  alternating,   // 1, -1, 1, ...: sums cancel
  sparse,        // 99 % zeros
  ramp,          // 0, 1/64, 2/64, ...
  outlier,       // normal with one value of 1e4 per 64
  negative,      // -|normal|
  mixed_scales,  // normal times 10^(-6 .. 6)
};
inline constexpr int kValueKinds = 14;
std::string_view name_of(ValueKind kind);
std::vector<float> random_values(ValueKind kind, int64_t count, std::mt19937& rng);

}  // namespace assay::kernels
