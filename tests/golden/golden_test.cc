// Whole models against their stored reference outputs, and the engine with planted mistakes, which must be
// seen.
#include <gtest/gtest.h>

#include <cmath>

#include "base/threads.h"
#include "fixtures.h"
#include "kernels/linear/runner.h"
#include "kernels/plan/reference_numeric.h"
#include "model/load.h"
#include "model/verifier.h"

namespace assay::model {
namespace {

// The golden's prompts through the model in `folder`, after `mutate` changed it.
template <class Mutate>
VerifyReport verify_folder(const std::string& folder, ModelOptions options, const Mutate& mutate) {
  auto golden = Golden::load(folder);
  if (!golden) throw std::runtime_error(golden.reason());
  auto open = open_model(folder);
  if (!open) throw std::runtime_error(open.reason());
  options.threads = usable_cores();
  size_for_golden(*golden, options);
  mutate(open->family.spec, open->weights);
  auto model = Model::build(open->family.spec, open->weights, options);
  if (!model) throw std::runtime_error(model.reason());
  auto report = verify(**model, *golden, {});
  if (!report) return {.passed = false};  // a golden that does not fit the mutated model is a mistake seen
  return *report;
}

VerifyReport verify_folder(const std::string& folder, const ModelOptions& options) {
  return verify_folder(folder, options, [](ModelSpec&, ModelWeights&) {});
}

class GoldenModel : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenModel, EveryLogitWithinTwoThousandths) {
  const std::string folder = fixture(GetParam());
  if (folder.empty()) GTEST_SKIP() << "no fixture " << GetParam();
  const VerifyReport report = verify_folder(folder, {});
  EXPECT_TRUE(report.passed);
  for (const PromptReport& p : report.prompts) {
    EXPECT_TRUE(p.passed) << p.name << " worst " << p.worst << " layer " << p.layer_out_of_bound;
    EXPECT_GT(p.rows_compared, 0) << p.name;
    EXPECT_EQ(p.unexcused_flips, 0) << p.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Goldens, GoldenModel,
                         ::testing::Values("golden/qwen35-moe-bf16", "golden/qwen35-moe-nvfp4",
                                           "golden/qwen35-moe-nvfp4-mixed", "golden/qwen35-moe-nvfp4-ct",
                                           "golden/qwen3-moe-bf16", "golden/qwen3-moe-nvfp4",
                                           "golden/qwen3-moe-nvfp4-ct", "golden/mixtral-bf16",
                                           "models/tiny-chat"));

TEST(Golden, ChunkedDeltaIsTheSameModel) {
  ModelOptions options;
  options.delta_backend = "cpu_chunked";
  EXPECT_TRUE(verify_folder(fixture("golden/qwen35-moe-nvfp4"), options).passed);
}

TEST(Golden, OtherPrecisionClassesAreJudgedByTheirOwnRules) {
  for (auto precision : {kernels::PrecisionClass::w4a16, kernels::PrecisionClass::w4a4}) {
    ModelOptions options;
    options.precision = precision;
    EXPECT_TRUE(verify_folder(fixture("golden/qwen3-moe-nvfp4"), options).passed) << name_of(precision);
  }
  // The classes are not the same thing: w4a4's logits are not w4a32's.
  ModelOptions options;
  options.precision = kernels::PrecisionClass::w4a4;
  EXPECT_FALSE(verify_folder(fixture("golden/qwen35-moe-nvfp4"), options).passed)
      << "has no w4a4 goldens to compare with";
}

// Planted mistakes: verify must fail, and say so.
TEST(Golden, PlantedMistakesAreSeen) {
  const std::string folder = fixture("golden/qwen35-moe-nvfp4");
  using Mutation = std::function<void(ModelSpec&, ModelWeights&)>;
  const std::vector<std::pair<const char*, Mutation>> mutations = {
      {"q norm dropped",
       [](ModelSpec&, ModelWeights& w) {
         for (auto& layer : w.layers)
           if (layer.attention) layer.attention->q_norm.clear();
       }},
      {"gate and up swapped",
       [](ModelSpec&, ModelWeights& w) {
         for (auto& layer : w.layers)
           for (auto& e : layer.ffn.experts) std::swap(e.gate, e.up);
       }},
      {"global scale ignored",
       [](ModelSpec&, ModelWeights& w) {
         for (auto& layer : w.layers)
           for (auto& e : layer.ffn.experts) e.down.global = 1.0f;
       }},
      {"shared expert skipped",
       [](ModelSpec& spec, ModelWeights&) {
         for (auto& layer : spec.layers) layer.ffn.shared_intermediate = 0;
       }},
      {"one expert too few",
       [](ModelSpec& spec, ModelWeights&) {
         for (auto& layer : spec.layers) layer.ffn.router.top_k -= 1;
       }},
      {"expert e uses e + 1",
       [](ModelSpec&, ModelWeights& w) {
         for (auto& layer : w.layers)
           std::rotate(layer.ffn.experts.begin(), layer.ffn.experts.begin() + 1, layer.ffn.experts.end());
       }},
      {"rope theta 10000", [](ModelSpec& spec, ModelWeights&) { spec.attention.rope_theta = 1e4; }},
      {"norm of the gated delta rule plus one",
       [](ModelSpec&, ModelWeights& w) {
         for (auto& layer : w.layers)
           if (layer.delta)
             for (float& x : layer.delta->norm) x += 1;
       }},
      {"conv taps reversed",
       [](ModelSpec& spec, ModelWeights& w) {
         for (auto& layer : w.layers)
           if (layer.delta) {
             for (auto at = layer.delta->conv.begin(); at != layer.delta->conv.end();
                  at += spec.delta.conv_width)
               std::reverse(at, at + spec.delta.conv_width);
           }
       }},
      {"top-k weights not renormalised",
       [](ModelSpec& spec, ModelWeights&) {
         for (auto& layer : spec.layers) layer.ffn.router.renormalise = false;
       }},
  };
  for (const auto& [what, mutate] : mutations) EXPECT_FALSE(verify_folder(folder, {}, mutate).passed) << what;
}

// One quantised linear with quantised activations: rows of very different magnitude, saturation, zero scales.
TEST(Golden, W4a4UnitsAreExact) {
  const std::string folder = fixture("golden/qwen3-moe-nvfp4");
  auto golden = Golden::load(folder);
  auto open = open_model(folder);
  ASSERT_TRUE(golden && open);
  const struct {
    const char* module;
    const QuantView& weight;
  } units[] = {
      {"model.layers.0.self_attn.q_proj", open->weights.layers[0].attention->q},
      {"model.layers.1.mlp.experts.0.gate_proj", open->weights.layers[1].ffn.experts[0].gate},
      {"model.layers.1.mlp.experts.0.down_proj", open->weights.layers[1].ffn.experts[0].down},
  };
  ThreadPool pool(1);
  for (const auto& unit : units) {
    const auto x = golden->matrix(std::string("w4a4_unit.") + unit.module + ".x");
    const auto y = golden->matrix(std::string("w4a4_unit.") + unit.module + ".y");
    ASSERT_TRUE(x && y) << unit.module;
    std::vector<float> out(y->values.size());
    const kernels::LinearPart part{&unit.weight, out.data(), y->columns};
    const kernels::LinearProblem problem{x->columns, unit.weight.format, kernels::PrecisionClass::w4a4};
    auto plan = kernels::choose(kernels::linear_runners(), problem);
    ASSERT_TRUE(plan) << plan.reason();
    plan->runner->run(
        problem,
        {.rows = x->rows, .x = x->values.data(), .x_stride = x->columns, .parts = std::span(&part, 1)},
        {pool, nullptr});
    for (int64_t r = 0; r < y->rows; ++r) {
      double largest = 0;
      for (int64_t n = 0; n < y->columns; ++n)
        largest = std::max<double>(largest, std::fabs(y->values[static_cast<size_t>(r * y->columns + n)]));
      for (int64_t n = 0; n < y->columns; ++n) {
        const auto i = static_cast<size_t>(r * y->columns + n);
        // Only the reference's own FP32 sum separates us: K roundings of terms no larger than the row's.
        ASSERT_NEAR(out[i], y->values[i], 1e-5 * largest) << unit.module << " row " << r << " output " << n;
      }
    }
  }
}

// Stored dequantised matrices hold an all-zero block, an outlier and subnormal block scales.
TEST(Golden, DequantisedMatricesAreExact) {
  const std::string folder = fixture("golden/qwen35-moe-nvfp4");
  auto golden = Golden::load(folder);
  auto open = open_model(folder);
  ASSERT_TRUE(golden && open);
  const auto& experts = open->weights.layers[1].ffn.experts;
  const std::pair<const char*, const QuantView*> stored[] = {{"0.down_proj", &experts[0].down},
                                                             {"1.down_proj", &experts[1].down},
                                                             {"2.gate_proj", &experts[2].gate}};
  for (const auto& [name, view] : stored) {
    const auto expected =
        golden->matrix(std::string("dequant.model.language_model.layers.1.mlp.experts.") + name);
    ASSERT_TRUE(expected) << name;
    for (int64_t r = 0; r < view->rows; ++r) {
      const auto row = kernels::reference::weight_row(*view, r);
      for (int64_t c = 0; c < view->cols; ++c) {
        ASSERT_EQ(static_cast<float>(row[static_cast<size_t>(c)]),
                  expected->values[static_cast<size_t>(r * view->cols + c)])
            << name << " " << r << " " << c;
      }
    }
  }
}

}  // namespace
}  // namespace assay::model
