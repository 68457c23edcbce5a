#pragma once
// The small operations between the large ones: norms, rotary position embedding, gates.
#include <cstdint>
#include <string>

#include "kernels/plan/precision.h"

namespace assay::kernels {

struct SmallProblem {
  int64_t hidden = 0;
  PrecisionClass precision = PrecisionClass::w4a32;
  bool operator==(const SmallProblem&) const = default;
};

std::string to_string(const SmallProblem& problem);

}  // namespace assay::kernels
