#pragma once
// Random weights in every stored format, and the checks that every kernel test makes. Tests only.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "base/arena.h"
#include "kernels/plan/expected.h"
#include "kernels/plan/runner.h"
#include "tensor/quant_view.h"

namespace assay::kernels::testing {

inline constexpr WeightFormat kAllFormats[] = {
    WeightFormat::f32,   WeightFormat::bf16,       WeightFormat::f16,         WeightFormat::nvfp4,
    WeightFormat::mxfp4, WeightFormat::fp8_tensor, WeightFormat::fp8_channel, WeightFormat::fp8_block};

// Uniform random codes (no NaN, no infinities) with scales of ordinary size: every code of a format occurs.
QuantView random_weight(WeightFormat format, int64_t rows, int64_t cols, std::mt19937& rng, Arena& arena);

enum class Shape { normal, heavy_tailed, all_equal, one_hot, tiny };
inline constexpr Shape kAllShapes[] = {Shape::normal, Shape::heavy_tailed, Shape::all_equal, Shape::one_hot,
                                       Shape::tiny};
std::vector<float> random_input(Shape shape, int64_t count, std::mt19937& rng);

// The output lies in its bound, and the same output zeroed, scaled by 1.25 or with neighbours swapped does
// not.
void expect_within(std::span<const float> out, const Expected& expected, const std::string& what);

// Zeroed scratch of the asked size and a context on `pool`.
struct Context {
  Context(ThreadPool& pool, size_t scratch_bytes)
      : scratch(scratch_bytes + kAlignment), cpu{pool, scratch.data()} {}
  LazyBuffer scratch;
  CpuContext cpu;
};

}  // namespace assay::kernels::testing
