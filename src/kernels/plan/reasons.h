#pragma once
// The catalogue of refusal reasons. One function per reason, so that a reason reads the same wherever it is
// given.
#include <fmt/format.h>

#include <string>

#include "kernels/plan/precision.h"
#include "kernels/plan/verdict.h"
#include "tensor/quant_view.h"

namespace assay::kernels::reasons {

inline Verdict precision_not_computed(PrecisionClass wanted, std::string_view computed) {
  return Verdict::no(
      fmt::format("class {} is asked for, this runner computes {}", name_of(wanted), computed));
}
inline Verdict not_a_multiple(std::string_view what, int64_t value, int64_t of) {
  return Verdict::no(fmt::format("{} is {}, not a multiple of {}", what, value, of));
}
// A stored row of `cols` elements must hold whole blocks of its format.
inline Verdict whole_blocks(WeightFormat format, std::string_view what, int64_t cols) {
  const int64_t block = format == WeightFormat::nvfp4 ? 16 : format == WeightFormat::mxfp4 ? 32 : 1;
  return cols % block == 0 ? Verdict::yes() : not_a_multiple(what, cols, block);
}
inline Verdict above_limit(std::string_view what, int64_t value, int64_t limit) {
  return Verdict::no(fmt::format("{} is {}, this runner takes at most {}", what, value, limit));
}

}  // namespace assay::kernels::reasons
