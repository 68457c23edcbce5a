#include "kernels/plan/judge.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace assay::kernels {

double sum_error(int64_t terms, double magnitudes, double result) {
  return kSafety * std::sqrt(static_cast<double>(terms)) * kUnitF32 * magnitudes +
         kUnitF32 * std::fabs(result);
}

Judgement judge(std::span<const float> out, std::span<const double> reference,
                std::span<const double> bound) {
  CHECK(out.size() == reference.size() && out.size() == bound.size());
  Judgement j;
  j.detectable_scale = INFINITY;
  for (size_t i = 0; i < out.size(); ++i) {
    const double error = std::fabs(out[i] - reference[i]);
    const bool inside = error <= bound[i];  // false for NaN
    const double ratio = inside ? (bound[i] > 0 ? error / bound[i] : 0)
                                : (error > 0 && bound[i] > 0 ? error / bound[i] : INFINITY);
    j.violations += !inside;
    if (ratio > j.worst_ratio || j.worst_index < 0) {
      j.worst_ratio = ratio;
      j.worst_index = static_cast<int64_t>(i);
    }
    if (reference[i] != 0)
      j.detectable_scale = std::min(j.detectable_scale, bound[i] / std::fabs(reference[i]));
  }
  return j;
}

}  // namespace assay::kernels
