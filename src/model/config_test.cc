// Configs: what is read, what is refused before any weight is read, and that all problems come at once.
#include "model/config.h"

#include <gtest/gtest.h>

#include "model/families/family.h"

namespace assay::model {
namespace {

constexpr const char* kQwen35 =
    R"({"model_type":"qwen3_5_moe","architectures":["Qwen3_5MoeForConditionalGeneration"],
  "text_config":{"hidden_size":64,"vocab_size":512,"max_position_embeddings":4096,"num_hidden_layers":4,
  "num_attention_heads":4,"num_key_value_heads":2,"head_dim":64,"linear_num_key_heads":2,"linear_num_value_heads":4,
  "linear_key_head_dim":32,"linear_value_head_dim":32,"linear_conv_kernel_dim":4,"moe_intermediate_size":32,
  "shared_expert_intermediate_size":32,"num_experts":8,"num_experts_per_tok":2)";

Result<FamilySpec> spec_of(const std::string& json) {
  auto config = Config::parse(json);
  if (!config) return config.error();
  return read_spec(*config);
}
std::string refusal(const std::string& json) {
  auto spec = spec_of(json);
  return spec ? "" : spec.reason();
}
std::string qwen35(const std::string& more = "") {
  return kQwen35 + more + "}}";
}

TEST(Config, Qwen35Defaults) {
  const auto family = spec_of(qwen35());
  ASSERT_TRUE(family) << family.reason();
  const ModelSpec& spec = family->spec;
  EXPECT_EQ(spec.attention.rotary_dim, 16);  // a quarter of 64
  EXPECT_EQ(spec.attention.rope_theta, 1e7);
  EXPECT_TRUE(spec.attention.output_gate);
  EXPECT_TRUE(spec.zero_centred_norms);
  // Without layer_types every fourth layer is full attention.
  EXPECT_EQ(spec.layers[2].mixer, Mixer::delta);
  EXPECT_EQ(spec.layers[3].mixer, Mixer::attention);
  EXPECT_TRUE(spec.layers[0].ffn.router.renormalise);
}

TEST(Config, LayerTypesAndRopeTableRule) {
  const auto family =
      spec_of(qwen35(R"(,"layer_types":["attention","linear_attention","full_attention","linear_attention"],
    "rope_parameters":{"rope_type":"default","rope_theta":5000,"partial_rotary_factor":0.5,"mrope_section":[3,3,2]})"));
  ASSERT_TRUE(family) << family.reason();
  EXPECT_EQ(family->spec.layers[0].mixer, Mixer::attention);
  EXPECT_EQ(family->spec.layers[3].mixer, Mixer::delta);
  EXPECT_EQ(family->spec.attention.rope_theta, 5000);
  EXPECT_EQ(family->spec.attention.rotary_dim, 32);
}

TEST(Config, Qwen3DenseLayersAndPlainNorms) {
  const auto family =
      spec_of(R"({"model_type":"qwen3_moe","hidden_size":64,"vocab_size":512,"max_position_embeddings":4096,
    "num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2,"moe_intermediate_size":32,"num_experts":8,
    "num_experts_per_tok":2,"norm_topk_prob":true,"mlp_only_layers":[0],"decoder_sparse_step":2,"intermediate_size":96,"rope_theta":123})");
  ASSERT_TRUE(family) << family.reason();
  const ModelSpec& spec = family->spec;
  EXPECT_FALSE(spec.zero_centred_norms);
  EXPECT_EQ(spec.attention.head_dim, 16);
  EXPECT_EQ(spec.attention.rotary_dim, 16);
  EXPECT_EQ(spec.attention.rope_theta, 123);
  const auto sparse = [&](size_t i) { return spec.layers[i].ffn.router.experts > 0; };
  EXPECT_FALSE(sparse(0));
  EXPECT_TRUE(sparse(1));
  EXPECT_FALSE(sparse(2));
  EXPECT_TRUE(sparse(3));
  EXPECT_EQ(spec.layers[0].ffn.shared_intermediate, 96);
}

TEST(Config, RefusalsNameWhatIsSupported) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"model_type":"mamba9","architectures":["Mamba9"]})",
       "\"mamba9\" (architecture \"Mamba9\") is not supported; supported: qwen3_5_moe, "},
      {"[1]", "not a JSON object"},
      {"{", "not valid JSON"},
      {qwen35(R"(,"hidden_act":"gelu")"), "hidden_act: found \"gelu\", supported: silu"},
      {qwen35(R"(,"rope_parameters":{"rope_type":"yarn","rope_theta":1e6})"),
       "rope_type: found \"yarn\", supported: default"},
      {qwen35(R"(,"layer_types":["conv","linear_attention","full_attention","linear_attention"])"),
       "layer_types[0]: found \"conv\""},
      {qwen35(R"(,"layer_types":["full_attention"])"), "found 1 entries, expected num_hidden_layers = 4"},
      {qwen35(R"(,"attention_bias":true)"), "attention_bias"},
      {qwen35(R"(,"output_gate_type":"sigmoid")"), "output_gate_type"},
      {qwen35(R"(,"rms_norm_eps":"tiny")"), "rms_norm_eps: found \"tiny\", expected a number"},
      {qwen35(R"(,"partial_rotary_factor":0.05)"), "rotary values, expected an even number"},
  };
  for (const auto& [json, expected] : cases) {
    const std::string reason = refusal(json);
    EXPECT_NE(reason.find(expected), std::string::npos) << expected << " not in: " << reason;
  }
}

TEST(Config, AllProblemsComeAtOnce) {
  const std::string reason =
      refusal(R"({"model_type":"qwen3_moe","hidden_size":-3,"vocab_size":"many","num_experts_per_tok":99,
    "num_attention_heads":3,"num_key_value_heads":2,"hidden_act":"relu"})");
  for (const char* field :
       {"hidden_size: found -3", "vocab_size: found", "max_position_embeddings: missing",
        "num_hidden_layers: missing", "num_key_value_heads", "num_experts_per_tok", "hidden_act"}) {
    EXPECT_NE(reason.find(field), std::string::npos) << field << " not in: " << reason;
  }
}

}  // namespace
}  // namespace assay::model
