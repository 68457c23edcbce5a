#pragma once
// The checks that every kernel test makes. Tests only.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "kernels/plan/expected.h"
#include "kernels/plan/random_inputs.h"
#include "kernels/plan/runner.h"

namespace assay::kernels::testing {

inline constexpr WeightFormat kAllFormats[] = {
    WeightFormat::f32,   WeightFormat::bf16,       WeightFormat::f16,         WeightFormat::nvfp4,
    WeightFormat::mxfp4, WeightFormat::fp8_tensor, WeightFormat::fp8_channel, WeightFormat::fp8_block};

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
