#include "moe/router.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace assay::moe {
namespace {

TEST(Router, SoftmaxTopKByHand) {
  const RouterSpec spec{.experts = 4, .top_k = 2};
  const std::vector<float> logits = {0, 2, 1, -1};
  const auto routing = route(spec, logits, 1);
  EXPECT_EQ(routing.expert, (std::vector<int32_t>{1, 2}));
  const double e = std::exp(1.0);
  EXPECT_NEAR(routing.weight[0], e / (1 + e), 1e-7);  // renormalised: softmax over the two chosen
  EXPECT_NEAR(routing.weight[0] + routing.weight[1], 1, 1e-7);
}

TEST(Router, WithoutRenormalisationWeightsAreProbabilities) {
  const RouterSpec spec{.experts = 3, .top_k = 2, .renormalise = false};
  const std::vector<float> logits = {std::log(1.0f), std::log(2.0f), std::log(5.0f)};
  const auto routing = route(spec, logits, 1);
  EXPECT_NEAR(routing.weight[0], 5.0 / 8, 1e-6);
  EXPECT_NEAR(routing.weight[1], 2.0 / 8, 1e-6);
}

TEST(Router, TiesGoToTheLowerIndex) {
  const RouterSpec spec{.experts = 5, .top_k = 3};
  const auto routing = route(spec, std::vector<float>(5, 1.0f), 1);
  EXPECT_EQ(routing.expert, (std::vector<int32_t>{0, 1, 2}));
}

TEST(Router, SigmoidChoosesByBiasAndWeighsWithout) {
  RouterSpec spec{
      .experts = 3, .top_k = 1, .score = RouterScore::sigmoid, .renormalise_eps = 1e-20, .scaling = 2.5f};
  spec.choice_bias = {0, 0, 10};
  const auto routing = route(spec, std::vector<float>{3, 2, -4}, 1);
  EXPECT_EQ(routing.expert[0], 2);
  EXPECT_NEAR(routing.weight[0], 2.5, 1e-6);  // alone: score / score * 2.5
}

TEST(Router, GroupLimitedChoiceUsesTheTwoBestOfEachGroup) {
  RouterSpec spec{.experts = 6, .top_k = 2, .score = RouterScore::sigmoid, .groups = 3, .top_groups = 1};
  // Group 1 (experts 2, 3) has the best pair although group 0 has the best single expert.
  const auto routing = route(spec, std::vector<float>{4, -9, 2, 2.5f, 1, 1}, 1);
  EXPECT_EQ(routing.expert, (std::vector<int32_t>{3, 2}));
}

TEST(Router, SoftmaxOverTheChosenLogitsOnly) {
  const RouterSpec spec{.experts = 3, .top_k = 2, .score = RouterScore::softmax_top_k, .renormalise = false};
  const auto routing = route(spec, std::vector<float>{std::log(3.0f), std::log(1.0f), std::log(100.0f)}, 1);
  EXPECT_EQ(routing.expert, (std::vector<int32_t>{2, 0}));
  EXPECT_NEAR(routing.weight[1], 3.0 / 103, 1e-6);
}

TEST(Router, MaskedRowsNeverVote) {
  const RouterSpec spec{.experts = 4, .top_k = 2};
  std::vector<float> logits(3 * 4);
  std::iota(logits.begin(), logits.end(), 0.0f);
  const bool mask[] = {true, false, true};
  const auto routing = route(spec, logits, 3, mask);
  EXPECT_EQ(routing.expert, (std::vector<int32_t>{3, 2, -1, -1, 3, 2}));
  EXPECT_EQ(routing.pairs, (std::vector<int32_t>{1, 5, 0, 4}));
  EXPECT_EQ(routing.offsets, (std::vector<int32_t>{0, 0, 0, 2, 4}));
}

TEST(Router, ForcedExpertsKeepTheRule) {
  const RouterSpec spec{.experts = 3, .top_k = 2};
  const std::vector<int32_t> forced = {0, 1};
  const auto routing = route(spec, std::vector<float>{0, std::log(3.0f), 9}, 1, {}, forced);
  EXPECT_EQ(routing.expert, (std::vector<int32_t>{1, 0}));
  EXPECT_NEAR(routing.weight[0], 0.75, 1e-6);
}

}  // namespace
}  // namespace assay::moe
