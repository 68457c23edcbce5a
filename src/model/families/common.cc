#include "model/families/common.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::model {

using checkpoint::WeightBinder;

void read_common(Config& config, ModelSpec& spec) {
  spec.hidden = config.integer("hidden_size");
  spec.vocab = config.integer("vocab_size");
  spec.max_positions = config.integer("max_position_embeddings");
  spec.eps = static_cast<float>(config.number("rms_norm_eps", 1e-6));
  if (!(spec.eps > 0 && spec.eps <= 0.01f)) {
    config.refuse(fmt::format("rms_norm_eps: found {}, expected a number in (0, 0.01]", spec.eps));
  }
  spec.tied_head = config.boolean("tie_word_embeddings", false);
  const std::string activation = config.text("hidden_act", "silu");
  if (activation != "silu") config.refuse(fmt::format("hidden_act: found {:?}, supported: silu", activation));
  if (config.boolean("attention_bias", false)) config.refuse("attention_bias: found true, supported: false");
  if (config.boolean("use_sliding_window", false))
    config.refuse("use_sliding_window: found true, supported: false");
}

int64_t read_layer_count(Config& config) {
  constexpr int64_t kMaxLayers = 1024;
  const int64_t count = config.integer("num_hidden_layers");
  if (count > kMaxLayers)
    config.refuse(fmt::format("num_hidden_layers: found {}, expected at most {}", count, kMaxLayers));
  return std::min(count, kMaxLayers);
}

AttentionSpec read_attention(Config& config, double default_theta, double default_partial) {
  AttentionSpec spec;
  spec.heads = config.integer("num_attention_heads");
  spec.kv_heads = config.integer("num_key_value_heads", spec.heads);
  spec.head_dim =
      config.integer("head_dim", std::max<int64_t>(1, config.integer("hidden_size") / spec.heads));
  if (spec.heads % spec.kv_heads != 0) {
    config.refuse(fmt::format("num_key_value_heads: found {}, expected a divisor of num_attention_heads {}",
                              spec.kv_heads, spec.heads));
  }
  const Config::Rope rope = config.rope(default_theta, default_partial);
  spec.rope_theta = rope.theta;
  spec.rotary_dim = static_cast<int64_t>(static_cast<double>(spec.head_dim) * rope.partial_rotary_factor);
  if (spec.rotary_dim < 2 || spec.rotary_dim % 2 != 0) {
    config.refuse(fmt::format(
        "partial_rotary_factor: {} of head_dim {} gives {} rotary values, expected an even number",
        rope.partial_rotary_factor, spec.head_dim, spec.rotary_dim));
  }
  return spec;
}

moe::RouterSpec read_softmax_router(Config& config, bool renormalise, const char* experts_field) {
  moe::RouterSpec router;
  router.experts = config.integer(experts_field);
  router.top_k = config.integer("num_experts_per_tok");
  router.score = moe::RouterScore::softmax;
  router.renormalise = renormalise;
  if (router.experts > 4096)
    config.refuse(fmt::format("num_experts: found {}, at most 4096 are supported", router.experts));
  router.experts = std::min<int64_t>(router.experts, 4096);
  if (router.top_k > router.experts) {
    config.refuse(
        fmt::format("num_experts_per_tok: found {}, there are {} experts", router.top_k, router.experts));
  }
  return router;
}

std::vector<float> bind_norm(WeightBinder& binder, const ModelSpec& spec, const std::string& name,
                             int64_t n) {
  std::vector<float> weight = binder.floats(name, {n});
  if (spec.zero_centred_norms) {
    for (float& w : weight) w += 1.0f;
  }
  return weight;
}

LayerWeights bind_layer_norms(WeightBinder& binder, const ModelSpec& spec, const std::string& module) {
  LayerWeights layer;
  layer.input_norm = bind_norm(binder, spec, module + ".input_layernorm.weight", spec.hidden);
  layer.post_norm = bind_norm(binder, spec, module + ".post_attention_layernorm.weight", spec.hidden);
  return layer;
}

kernels::ExpertWeights bind_expert(WeightBinder& binder, const std::string& module, int64_t hidden,
                                   int64_t intermediate, const ExpertNames& names) {
  return {binder.linear(fmt::format("{}.{}", module, names.gate), intermediate, hidden),
          binder.linear(fmt::format("{}.{}", module, names.up), intermediate, hidden),
          binder.linear(fmt::format("{}.{}", module, names.down), hidden, intermediate)};
}

namespace {

// The rows [first, first + rows) of a plain matrix.
QuantView row_slice(QuantView view, int64_t first, int64_t rows) {
  view.codes += code_bytes(view.format, first, view.cols);
  view.rows = rows;
  return view;
}

}  // namespace

std::vector<kernels::ExpertWeights> bind_experts(WeightBinder& binder, const std::string& module,
                                                 const FfnSpec& ffn, int64_t hidden,
                                                 const ExpertNames& names) {
  const int64_t count = ffn.router.experts;
  std::vector<kernels::ExpertWeights> experts;
  if (binder.has(module + ".gate_up_proj")) {
    const auto gate_up = binder.stacked(module + ".gate_up_proj", count, 2 * ffn.intermediate, hidden);
    const auto down = binder.stacked(module + ".down_proj", count, hidden, ffn.intermediate);
    if (gate_up.empty() || down.empty()) return experts;
    for (size_t e = 0; e < static_cast<size_t>(count); ++e) {
      experts.push_back({row_slice(gate_up[e], 0, ffn.intermediate),
                         row_slice(gate_up[e], ffn.intermediate, ffn.intermediate), down[e]});
    }
    return experts;
  }
  for (int64_t e = 0; e < count; ++e) {
    experts.push_back(bind_expert(binder, fmt::format("{}.{}", module, e), hidden, ffn.intermediate, names));
  }
  return experts;
}

AttentionWeights bind_attention(WeightBinder& binder, const ModelSpec& spec, const std::string& module) {
  const AttentionSpec& a = spec.attention;
  AttentionWeights weights;
  weights.q = binder.linear(module + ".q_proj", a.heads * a.head_dim * (a.output_gate ? 2 : 1), spec.hidden);
  weights.k = binder.linear(module + ".k_proj", a.kv_heads * a.head_dim, spec.hidden);
  weights.v = binder.linear(module + ".v_proj", a.kv_heads * a.head_dim, spec.hidden);
  weights.o = binder.linear(module + ".o_proj", spec.hidden, a.heads * a.head_dim);
  if (!a.head_norms) return weights;
  weights.q_norm = bind_norm(binder, spec, module + ".q_norm.weight", a.head_dim);
  weights.k_norm = bind_norm(binder, spec, module + ".k_norm.weight", a.head_dim);
  return weights;
}

void bind_ends(WeightBinder& binder, const ModelSpec& spec, const std::string& root, ModelWeights& weights) {
  weights.embedding = binder.linear(root + "embed_tokens", spec.vocab, spec.hidden);
  weights.final_norm = bind_norm(binder, spec, root + "norm.weight", spec.hidden);
  std::string head = "lm_head";
  if (!binder.has_module(head)) head = root.starts_with("language_model.") ? "language_model.lm_head" : head;
  weights.head = spec.tied_head && !binder.has_module(head) ? weights.embedding
                                                            : binder.linear(head, spec.vocab, spec.hidden);
  for (const char* suffix : {".k_scale", ".v_scale"})
    binder.skip_suffix(suffix, "scales of an FP8 KV cache (it is FP32 here)");
  binder.skip_suffix(".rotary_emb.inv_freq", "rotary caches (recomputed)");
}

}  // namespace assay::model
