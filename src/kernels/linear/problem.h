#pragma once
// y = x W^T, for one or several matrices that read the same input.
#include <cstdint>
#include <string>

#include "kernels/plan/precision.h"
#include "tensor/quant_view.h"

namespace assay::kernels {

struct LinearProblem {
  int64_t inputs = 0;  // K
  WeightFormat format = WeightFormat::bf16;
  PrecisionClass precision = PrecisionClass::w4a32;
  bool operator==(const LinearProblem&) const = default;
};

std::string to_string(const LinearProblem& problem);

}  // namespace assay::kernels
