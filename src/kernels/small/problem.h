#pragma once
// The small operations between the large ones: norms, rotary position embedding, gates.
#include <cstdint>

#include "kernels/plan/problem_text.h"

namespace assay::kernels {

struct SmallProblem {
  int64_t hidden = 0;
  PrecisionClass precision = PrecisionClass::w4a32;
  bool operator==(const SmallProblem&) const = default;
  static constexpr const char* kFamily = "small";
  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit&& visit) {
    visit("hidden", self.hidden);
    visit("precision", self.precision);
  }
};

}  // namespace assay::kernels
