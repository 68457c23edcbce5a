// Qwen3.5-MoE (and Qwen3.6-MoE): three Gated DeltaNet layers to one gated full attention, routed experts plus
// a gated shared one, zero-centred norms. Published as a vision-language model; the vision tower is skipped.
#include "model/families/qwen3_5_moe.h"

#include <fmt/format.h>

#include "model/families/common.h"

namespace assay::model::qwen3_5_moe {
namespace {

std::vector<LayerSpec> read_layers(Config& config) {
  FfnSpec ffn;
  ffn.intermediate = config.integer("moe_intermediate_size");
  ffn.shared_intermediate = config.integer("shared_expert_intermediate_size");
  ffn.shared_gate = true;
  ffn.router = read_softmax_router(config, true);
  if (!config.integers("mlp_only_layers").empty())
    config.refuse("mlp_only_layers: found a non-empty list, supported: []");
  const int64_t count = read_layer_count(config);
  const auto types = config.texts("layer_types");
  const int64_t interval = config.integer("full_attention_interval", 4);
  if (!types.empty() && static_cast<int64_t>(types.size()) != count) {
    config.refuse(
        fmt::format("layer_types: found {} entries, expected num_hidden_layers = {}", types.size(), count));
    return {};
  }
  std::vector<LayerSpec> layers;
  for (int64_t i = 0; i < count; ++i) {
    std::string type = (i + 1) % interval == 0 ? "full_attention" : "linear_attention";
    if (!types.empty()) type = types[static_cast<size_t>(i)];
    if (type != "full_attention" && type != "attention" && type != "linear_attention") {
      config.refuse(
          fmt::format("layer_types[{}]: found {:?}, supported: linear_attention, full_attention", i, type));
    }
    layers.push_back({type == "linear_attention" ? Mixer::delta : Mixer::attention, ffn});
  }
  return layers;
}

DeltaWeights bind_delta(checkpoint::WeightBinder& binder, const ModelSpec& spec, const std::string& module) {
  const DeltaSpec& d = spec.delta;
  const int64_t values = d.value_heads * d.value_dim, channels = 2 * d.key_heads * d.key_dim + values;
  DeltaWeights weights;
  weights.qkv = binder.linear(module + ".in_proj_qkv", channels, spec.hidden);
  weights.z = binder.linear(module + ".in_proj_z", values, spec.hidden);
  weights.b = binder.linear(module + ".in_proj_b", d.value_heads, spec.hidden);
  weights.a = binder.linear(module + ".in_proj_a", d.value_heads, spec.hidden);
  weights.out = binder.linear(module + ".out_proj", spec.hidden, values);
  weights.conv = binder.floats(module + ".conv1d.weight", {channels, 1, d.conv_width});
  weights.a_log = binder.floats(module + ".A_log", {d.value_heads});
  weights.dt_bias = binder.floats(module + ".dt_bias", {d.value_heads});
  weights.norm = binder.floats(module + ".norm.weight", {d.value_dim});  // plain w, the only one
  return weights;
}

std::string text_root(const checkpoint::WeightBinder& binder) {
  for (const char* root : {"model.language_model.", "language_model.model."}) {
    if (binder.has(std::string(root) + "norm.weight")) return root;
  }
  return "model.";
}

}  // namespace

ModelSpec read_spec(Config& config) {
  ModelSpec spec;
  read_common(config, spec);
  spec.zero_centred_norms = true;
  spec.attention = read_attention(config, 1e7, 0.25);
  spec.attention.output_gate = config.boolean("attn_output_gate", true);
  spec.delta = {.key_heads = config.integer("linear_num_key_heads"),
                .value_heads = config.integer("linear_num_value_heads"),
                .key_dim = config.integer("linear_key_head_dim"),
                .value_dim = config.integer("linear_value_head_dim"),
                .conv_width = config.integer("linear_conv_kernel_dim")};
  if (spec.delta.value_heads % spec.delta.key_heads != 0) {
    config.refuse(
        fmt::format("linear_num_value_heads: found {}, expected a multiple of linear_num_key_heads {}",
                    spec.delta.value_heads, spec.delta.key_heads));
  }
  if (spec.delta.conv_width < 2 || spec.delta.conv_width > 16) {
    config.refuse(fmt::format("linear_conv_kernel_dim: found {}, supported: 2 to 16", spec.delta.conv_width));
  }
  const std::string gate = config.text("output_gate_type", "silu");
  if (gate != "silu" && gate != "swish") {
    config.refuse(fmt::format("output_gate_type: found {:?}, supported: silu", gate));
  }
  spec.layers = read_layers(config);
  return spec;
}

ModelWeights bind(checkpoint::WeightBinder& binder, const ModelSpec& spec) {
  const std::string root = text_root(binder);
  ModelWeights weights;
  bind_ends(binder, spec, root, weights);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const LayerSpec& layer = spec.layers[i];
    const std::string module = fmt::format("{}layers.{}", root, i);
    LayerWeights w = bind_layer_norms(binder, spec, module);
    if (layer.mixer == Mixer::attention)
      w.attention = bind_attention(binder, spec, module + ".self_attn");
    else
      w.delta = bind_delta(binder, spec, module + ".linear_attn");
    w.router = binder.linear(module + ".mlp.gate", layer.ffn.router.experts, spec.hidden);
    w.ffn.experts = bind_experts(binder, module + ".mlp.experts", layer.ffn, spec.hidden);
    w.ffn.shared =
        bind_expert(binder, module + ".mlp.shared_expert", spec.hidden, layer.ffn.shared_intermediate);
    w.ffn.shared_gate = binder.floats(module + ".mlp.shared_expert_gate.weight", {1, spec.hidden});
    weights.layers.push_back(std::move(w));
  }
  for (const char* prefix : {"model.visual.", "visual.", "vision_tower.", "model.vision_tower."}) {
    binder.skip_prefix(prefix, "vision tower (text only)");
  }
  binder.skip_prefix("mtp.", "MTP layer (no speculation yet)");
  return weights;
}

}  // namespace assay::model::qwen3_5_moe
