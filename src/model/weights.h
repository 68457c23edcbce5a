#pragma once
// ModelWeights: a model's tensors by role. Matrices are views (into the mapped checkpoint after binding, into
// the model's arena after packing); vectors are FP32 and already hold the family's "1 +".
#include <optional>
#include <vector>

#include "kernels/moe/runner.h"
#include "tensor/quant_view.h"

namespace assay::model {

struct AttentionWeights {
  QuantView q;  // [heads * head_dim * (2 with output gate), hidden]
  QuantView k;  // [kv_heads * head_dim, hidden]
  QuantView v;
  QuantView o;                        // [hidden, heads * head_dim]
  std::vector<float> q_norm, k_norm;  // [head_dim]; empty = none
};

struct DeltaWeights {
  QuantView qkv;               // [channels, hidden]
  QuantView z;                 // [value_heads * value_dim, hidden]
  QuantView b;                 // [value_heads, hidden]
  QuantView a;                 // [value_heads, hidden]
  QuantView out;               // [hidden, value_heads * value_dim]
  std::vector<float> conv;     // [channels, conv_width]
  std::vector<float> a_log;    // [value_heads]
  std::vector<float> dt_bias;  // [value_heads]
  std::vector<float> norm;     // [value_dim]
};

struct LayerWeights {
  std::vector<float> input_norm, post_norm;  // [hidden]
  std::optional<AttentionWeights> attention;
  std::optional<DeltaWeights> delta;
  QuantView router;  // [experts, hidden]; empty in dense layers
  kernels::MoeWeights ffn;
};

struct ModelWeights {
  QuantView embedding;  // [vocab, hidden]
  std::vector<LayerWeights> layers;
  std::vector<float> final_norm;  // [hidden]
  QuantView head;                 // [vocab, hidden]; the embedding's view when tied
};

}  // namespace assay::model
