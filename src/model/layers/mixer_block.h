#pragma once
// MixerBlock: what moves information between the tokens of a sequence: full attention or Gated DeltaNet.
#include "model/layers/context.h"

namespace assay::model {

class MixerBlock {
 public:
  virtual ~MixerBlock() = default;
  // x, out: [rows, hidden] dense.
  virtual void run(PassContext& pass, const float* x, float* out) const = 0;
  virtual Booking booking(int64_t max_rows, int64_t max_context, int threads) const = 0;
};

}  // namespace assay::model
