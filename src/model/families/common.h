#pragma once
// What families share when they read configs and bind tensors.
#include <string>

#include "checkpoint/weight_binder.h"
#include "model/config.h"
#include "model/spec.h"
#include "model/weights.h"

namespace assay::model {

// hidden, vocab, eps, positions, head tying and the activation check: the same names in every family.
void read_common(Config& config, ModelSpec& spec);
// num_hidden_layers, refused above 1024.
int64_t read_layer_count(Config& config);
// heads, kv heads, head_dim and rope.
AttentionSpec read_attention(Config& config, double default_theta, double default_partial);
// Softmax router over `experts_field` experts with num_experts_per_tok.
moe::RouterSpec read_softmax_router(Config& config, bool renormalise,
                                    const char* experts_field = "num_experts");

// Norm weights [n] as the forward wants them: 1 + w where the family stores them zero-centred.
std::vector<float> bind_norm(checkpoint::WeightBinder& binder, const ModelSpec& spec, const std::string& name,
                             int64_t n);
// A layer that has its two norms, input_layernorm and post_attention_layernorm, and nothing else yet.
LayerWeights bind_layer_norms(checkpoint::WeightBinder& binder, const ModelSpec& spec,
                              const std::string& module);
// {module}.{gate,up,down}_proj, or the family's names for them.
struct ExpertNames {
  const char *gate = "gate_proj", *up = "up_proj", *down = "down_proj";
};
kernels::ExpertWeights bind_expert(checkpoint::WeightBinder& binder, const std::string& module,
                                   int64_t hidden, int64_t intermediate, const ExpertNames& names = {});
// Routed experts under `module` ("...mlp.experts"): stacked 3-D tensors (gate_up_proj, down_proj) or one per
// expert.
std::vector<kernels::ExpertWeights> bind_experts(checkpoint::WeightBinder& binder, const std::string& module,
                                                 const FfnSpec& ffn, int64_t hidden,
                                                 const ExpertNames& names = {});
// self_attn.{q,k,v,o}_proj with q_norm and k_norm where the spec has head norms.
AttentionWeights bind_attention(checkpoint::WeightBinder& binder, const ModelSpec& spec,
                                const std::string& module);
// Embedding, final norm and head. `root` ends with a dot.
void bind_ends(checkpoint::WeightBinder& binder, const ModelSpec& spec, const std::string& root,
               ModelWeights& weights);

}  // namespace assay::model
