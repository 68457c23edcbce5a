#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "engine/draw.h"
#include "engine/step.h"

namespace assay::engine {
namespace {

TokenId draw(std::vector<float> logits, const SamplingParams& p, int32_t index = 0,
             const TokenHistory* history = nullptr) {
  return sample(logits, p, index, static_cast<int32_t>(logits.size()), history, nullptr);
}

// How often each token comes in `n` draws at successive positions.
std::map<TokenId, int> count(const std::vector<float>& logits, const SamplingParams& p, int n = 20000) {
  std::map<TokenId, int> counts;
  for (int i = 0; i < n; ++i) counts[draw(logits, p, i)]++;
  return counts;
}

TEST(Draw, IsAFunctionOfItsArgumentsAndUniform) {
  EXPECT_EQ(uniform_draw(1, 2, 3, DrawPurpose::sample), uniform_draw(1, 2, 3, DrawPurpose::sample));
  EXPECT_NE(uniform_draw(1, 2, 3, DrawPurpose::sample), uniform_draw(1, 2, 3, DrawPurpose::accept));
  EXPECT_NE(uniform_draw(1, 2, 3, DrawPurpose::sample), uniform_draw(1, 3, 3, DrawPurpose::sample));
  EXPECT_NE(uniform_draw(1, 2, 3, DrawPurpose::sample), uniform_draw(2, 2, 3, DrawPurpose::sample));
  int bins[10] = {};
  constexpr int kDraws = 100000;
  for (uint64_t i = 0; i < kDraws; ++i)
    bins[static_cast<int>(10 * uniform_draw(42, 0, i, DrawPurpose::sample))]++;
  double chi2 = 0;
  for (int b : bins) chi2 += (b - kDraws / 10.0) * (b - kDraws / 10.0) / (kDraws / 10.0);
  EXPECT_LT(chi2, 27.9);  // 9 degrees of freedom, p = 0.001; the draws are fixed, so this cannot flicker
}

TEST(Sampler, GreedyTakesTheLowestOfEqualLogits) {
  EXPECT_EQ(draw({0, 3, 3, 1}, {.temperature = 0}), 1);
}

TEST(Sampler, FrequenciesFollowTheSoftmax) {
  const std::vector<float> logits = {std::log(0.5f), std::log(0.3f), std::log(0.2f)};
  const auto counts = count(logits, {.seed = 7});
  // 5 sigma of a binomial with n = 20000.
  for (TokenId t = 0; t < 3; ++t) {
    const double p = std::exp(logits[static_cast<size_t>(t)]);
    EXPECT_NEAR(counts.at(t), 20000 * p, 5 * std::sqrt(20000 * p * (1 - p))) << t;
  }
  const auto sharp = count(logits, {.temperature = 0.5f, .seed = 7});
  EXPECT_NEAR(sharp.at(0), 20000 * 0.25 / 0.38, 5 * std::sqrt(20000 * 0.25))
      << "probabilities are squared at 0.5";
}

TEST(Sampler, TopKTopPAndMinPCutTheTail) {
  const std::vector<float> logits = {std::log(0.4f), std::log(0.1f), std::log(0.3f), std::log(0.2f)};
  EXPECT_EQ(count(logits, {.top_k = 2, .seed = 1}, 500).size(), 2u);
  EXPECT_EQ(count(logits, {.top_p = 0.65f, .seed = 1}, 500).size(), 2u);
  EXPECT_EQ(count(logits, {.top_p = 0.71f, .seed = 1}, 500).size(), 3u);
  EXPECT_EQ(count(logits, {.min_p = 0.45f, .seed = 1}, 500).size(), 3u);  // 0.2 / 0.4 stays, 0.1 / 0.4 goes
  EXPECT_EQ(count(logits, {.top_p = 1e-6f, .seed = 1}, 100).size(), 1u);
  EXPECT_EQ(count(logits, {.top_k = 1, .seed = 1}, 100).size(), 1u);
}

TEST(Sampler, PenaltiesLookAtPromptAndOutput) {
  Request request{.id = 1, .prompt = {0}};
  request.sampling = {.temperature = 0, .repetition_penalty = 2};
  TokenHistory history(request);
  EXPECT_EQ(draw({4, 3, 0}, request.sampling, 0, &history), 1);        // 4 / 2 < 3
  EXPECT_EQ(draw({-1, -1.5f, -9}, request.sampling, 0, &history), 1);  // -1 * 2 < -1.5
  request.sampling = {.temperature = 0, .presence_penalty = 1};
  EXPECT_EQ(draw({4, 3.5f, 0}, request.sampling, 0, &history), 0) << "presence counts output only";
  history.add(0);
  EXPECT_EQ(draw({4, 3.5f, 0}, request.sampling, 0, &history), 1);
  request.sampling = {.temperature = 0, .frequency_penalty = 0.3f};
  EXPECT_EQ(draw({4, 3.5f, 0}, request.sampling, 0, &history), 0);
  history.add(0);
  EXPECT_EQ(draw({4, 3.5f, 0}, request.sampling, 0, &history), 1);
}

TEST(Sampler, BiasMinTokensAndPaddingRows) {
  EXPECT_EQ(draw({5, 0, 0}, {.temperature = 0, .logit_bias = {{2, 100.0f}}}), 2);
  const SamplingParams p{.temperature = 0, .min_tokens = 2, .eos_ids = {0}, .stop_ids = {1}};
  EXPECT_EQ(draw({5, 4, 0}, p, 1), 2);
  EXPECT_EQ(draw({5, 4, 0}, p, 2), 0);
  std::vector<float> logits = {0, 1, 9};
  EXPECT_EQ(sample(logits, {.temperature = 0}, 0, 2, nullptr, nullptr), 1);
}

TEST(Sampler, NotANumberIsNeverAToken) {
  EXPECT_EQ(draw({0, NAN, 1}, {.temperature = 0}), kInvalidToken);
  EXPECT_EQ(draw({0, NAN, 1}, {.temperature = 1}), kInvalidToken);
  EXPECT_EQ(draw({-INFINITY, -INFINITY}, {.temperature = 1}), kInvalidToken);
}

}  // namespace
}  // namespace assay::engine
