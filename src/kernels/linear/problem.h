#pragma once
// y = x W^T, for one or several matrices that read the same input.
#include <cstdint>

#include "kernels/plan/problem_text.h"

namespace assay::kernels {

struct LinearProblem {
  int64_t inputs = 0;  // K
  WeightFormat format = WeightFormat::bf16;
  PrecisionClass precision = PrecisionClass::w4a32;
  bool operator==(const LinearProblem&) const = default;
  static constexpr const char* kFamily = "linear";
  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit&& visit) {
    visit("inputs", self.inputs);
    visit("format", self.format);
    visit("precision", self.precision);
  }
};

}  // namespace assay::kernels
