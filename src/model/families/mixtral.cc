// Mixtral: a Llama block (grouped-query attention, full rotary, plain norms) with routed experts only.
#include "model/families/mixtral.h"

#include <fmt/format.h>

#include "model/families/common.h"

namespace assay::model::mixtral {
namespace {

constexpr ExpertNames kNames{.gate = "w1", .up = "w3", .down = "w2"};

}  // namespace

ModelSpec read_spec(Config& config) {
  ModelSpec spec;
  read_common(config, spec);
  if (config.has("sliding_window")) config.refuse("sliding_window: found a value, supported: null");
  spec.attention = read_attention(config, 1e6, 1.0);
  spec.attention.head_norms = false;
  FfnSpec ffn;
  ffn.intermediate = config.integer("intermediate_size");
  ffn.router = read_softmax_router(config, true, "num_local_experts");
  const int64_t count = read_layer_count(config);
  spec.layers.assign(static_cast<size_t>(count), {Mixer::attention, ffn});
  return spec;
}

ModelWeights bind(checkpoint::WeightBinder& binder, const ModelSpec& spec) {
  ModelWeights weights;
  bind_ends(binder, spec, "model.", weights);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const FfnSpec& ffn = spec.layers[i].ffn;
    const std::string module = fmt::format("model.layers.{}", i), moe = module + ".block_sparse_moe";
    LayerWeights w = bind_layer_norms(binder, spec, module);
    w.attention = bind_attention(binder, spec, module + ".self_attn");
    w.router = binder.linear(moe + ".gate", ffn.router.experts, spec.hidden);
    w.ffn.experts = bind_experts(binder, moe + ".experts", ffn, spec.hidden, kNames);
    weights.layers.push_back(std::move(w));
  }
  return weights;
}

}  // namespace assay::model::mixtral
