#pragma once
// Judge: does a runner's output lie within its derived bound of the reference, element by element?
#include <cstdint>
#include <span>
#include <vector>

namespace assay::kernels {

// Unit roundoff of FP32 and the safety factor on the probabilistic growth of rounding errors (sqrt of the
// number of additions; Higham and Mary, "A new approach to probabilistic rounding error analysis", 2019).
inline constexpr double kUnitF32 = 0x1p-24;
inline constexpr double kSafety = 4;

// Error of an FP32 sum of `terms` products whose magnitudes add up to `magnitudes`, result included.
double sum_error(int64_t terms, double magnitudes, double result);

struct Judgement {
  int64_t violations = 0;  // elements outside their bound, NaN included
  int64_t worst_index = -1;
  double worst_ratio = 0;  // of error to bound
  // The smallest relative error of the whole output that would be noticed: below 0.25, or the bound proves
  // nothing.
  double detectable_scale = 0;
  bool passed() const { return violations == 0; }
};

Judgement judge(std::span<const float> out, std::span<const double> reference, std::span<const double> bound);

}  // namespace assay::kernels
