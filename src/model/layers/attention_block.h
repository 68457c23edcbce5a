#pragma once
// attention_block: q, k, v -> per-head norm and rotary embedding -> paged attention -> output gate -> o.
#include <memory>

#include "model/layers/linear_group.h"
#include "model/layers/mixer_block.h"
#include "model/weights.h"

namespace assay::model {

// `page_offset`: where this layer's keys start inside a page, in floats; its values follow.
std::unique_ptr<MixerBlock> make_attention_block(Builder& builder, const AttentionWeights& weights,
                                                 int64_t page_offset);

// Floats of one layer's keys and values in one page.
int64_t attention_page_floats(const AttentionSpec& spec, int64_t page_size);

}  // namespace assay::model
