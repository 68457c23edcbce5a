// Qwen3-MoE: grouped-query attention with per-head q/k norms and full rotary, routed experts only, plain
// norms.
#include "model/families/qwen3_moe.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/families/common.h"

namespace assay::model::qwen3_moe {

ModelSpec read_spec(Config& config) {
  ModelSpec spec;
  read_common(config, spec);
  spec.attention = read_attention(config, 1e6, 1.0);
  FfnSpec sparse;
  sparse.intermediate = config.integer("moe_intermediate_size");
  sparse.router = read_softmax_router(config, config.boolean("norm_topk_prob", false));
  const auto dense_layers = config.integers("mlp_only_layers");
  const int64_t step = config.integer("decoder_sparse_step", 1);
  const int64_t count = read_layer_count(config);
  for (int64_t i = 0; i < count; ++i) {
    const bool listed = std::find(dense_layers.begin(), dense_layers.end(), i) != dense_layers.end();
    FfnSpec ffn = sparse;
    if (listed || (i + 1) % step != 0) {
      ffn = {};
      ffn.shared_intermediate = config.integer("intermediate_size");
    }
    spec.layers.push_back({Mixer::attention, ffn});
  }
  return spec;
}

ModelWeights bind(checkpoint::WeightBinder& binder, const ModelSpec& spec) {
  ModelWeights weights;
  bind_ends(binder, spec, "model.", weights);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const FfnSpec& ffn = spec.layers[i].ffn;
    const std::string module = fmt::format("model.layers.{}", i);
    LayerWeights w = bind_layer_norms(binder, spec, module);
    w.attention = bind_attention(binder, spec, module + ".self_attn");
    if (ffn.router.experts > 0) {
      w.router = binder.linear(module + ".mlp.gate", ffn.router.experts, spec.hidden);
      w.ffn.experts = bind_experts(binder, module + ".mlp.experts", ffn, spec.hidden);
    } else {
      w.ffn.shared = bind_expert(binder, module + ".mlp", spec.hidden, ffn.shared_intermediate);
    }
    weights.layers.push_back(std::move(w));
  }
  return weights;
}

}  // namespace assay::model::qwen3_moe
