#pragma once
// delta_block: in-projections -> convolution, delta rule, gated norm -> out-projection.
#include <memory>

#include "model/layers/linear_group.h"
#include "model/layers/mixer_block.h"
#include "model/weights.h"

namespace assay::model {

// `state_offset`: where this layer's state starts inside a slot, in floats.
std::unique_ptr<MixerBlock> make_delta_block(Builder& builder, const DeltaWeights& weights,
                                             int64_t state_offset);

int64_t delta_state_floats(const DeltaSpec& spec);

}  // namespace assay::model
