#pragma once
// The layout of the plain and the reference runners: the checkpoint's own bytes, aligned.
#include "base/arena.h"
#include "tensor/quant_view.h"

namespace assay::kernels {

inline QuantView pack_as_stored(const QuantView& weight, Arena& arena) {
  QuantView packed = weight;
  packed.codes =
      arena.copy(weight.codes, static_cast<size_t>(code_bytes(weight.format, weight.rows, weight.cols)));
  const auto scales = static_cast<size_t>(scale_bytes(weight.format, weight.rows, weight.cols));
  packed.scales = scales > 0 ? arena.copy(weight.scales, scales) : nullptr;
  return packed;
}

}  // namespace assay::kernels
