#pragma once
// Expected: what a problem's outputs must be, element by element: the fp64 value over the same stored
// numbers, and the error that FP32 arithmetic (class w4a32) may have. Derived stage by stage; see
// docs/numerics.md.
#include <cmath>
#include <span>
#include <vector>

#include "kernels/plan/judge.h"

namespace assay::kernels {

struct Expected {
  std::vector<double> value, bound;
  void add(double v, double error) {
    constexpr double kTiny = 1e-37;  // products below the smallest normal FP32 number may be lost
    value.push_back(v);
    bound.push_back(error + kTiny);
  }
};

// A number on its way through several stages.
struct Uncertain {
  double value = 0, error = 0;
};

// sum_i weights[i] * x[i] in FP32, with one more rounding for a common factor.
inline Uncertain uncertain_dot(std::span<const double> weights, std::span<const Uncertain> x) {
  Uncertain sum;
  double magnitudes = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    sum.value += weights[i] * x[i].value;
    sum.error += std::fabs(weights[i]) * x[i].error;
    magnitudes += std::fabs(weights[i] * x[i].value);
  }
  sum.error += sum_error(static_cast<int64_t>(weights.size()), magnitudes, sum.value) +
               kUnitF32 * std::fabs(sum.value);
  return sum;
}

inline std::vector<Uncertain> exact(std::span<const float> x) {
  std::vector<Uncertain> out;
  for (float v : x) out.push_back({v, 0});
  return out;
}

}  // namespace assay::kernels
