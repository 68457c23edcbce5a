// Every expert-block runner against the reference, with bounds added up stage by stage.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/moe/expected.h"
#include "kernels/moe/runner.h"
#include "kernels/testing/expect.h"

namespace assay::kernels {
namespace {

constexpr int64_t kHidden = 64, kInter = 96, kShared = 32, kExperts = 6, kTopK = 3;

struct Fixture {
  Arena arena;
  MoeProblem problem;
  MoeWeights weights;

  Fixture(WeightFormat format, bool shared, std::mt19937& rng) {
    problem = {
        .hidden = kHidden, .intermediate = kInter, .experts = kExperts, .top_k = kTopK, .format = format};
    const auto expert = [&](WeightFormat f, int64_t inter) {
      return ExpertWeights{random_weight(f, inter, kHidden, rng, arena),
                           random_weight(f, inter, kHidden, rng, arena),
                           random_weight(f, kHidden, inter, rng, arena)};
    };
    for (int64_t e = 0; e < kExperts; ++e) weights.experts.push_back(expert(format, kInter));
    if (!shared) return;
    problem.shared_intermediate = kShared;
    problem.shared_gate = true;
    weights.shared = expert(WeightFormat::bf16, kShared);
    weights.shared_gate = random_values(ValueKind::normal, kHidden, rng);
  }
};

Routing make_routing(int64_t tokens, const std::function<int32_t(int64_t, int64_t)>& expert,
                     std::mt19937& rng) {
  Routing r{.tokens = tokens, .top_k = kTopK};
  std::uniform_real_distribution<float> weight(0.1f, 0.6f);
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t c = 0; c < kTopK; ++c) {
      r.expert.push_back(expert(t, c));
      r.weight.push_back(weight(rng));
    }
  }
  group_by_expert(r, kExperts);
  return r;
}

std::vector<float> run(const MoeRunner& runner, const Fixture& f, const Routing& routing,
                       const std::vector<float>& x, int threads) {
  ThreadPool pool(threads);
  Arena arena;
  const MoeWeights packed = runner.pack(f.weights, arena);
  testing::Context context(pool,
                           runner.scratch_bytes(f.problem, std::max<int64_t>(routing.tokens, 1), threads));
  std::memset(context.scratch.data(), 0xFF, context.scratch.bytes());  // stale scratch shows as NaN
  std::vector<float> out(x.size(), NAN);
  runner.run(f.problem, {.weights = &packed, .routing = &routing, .x = x.data(), .out = out.data()},
             context.cpu);
  return out;
}

void expect_close(const MoeRunner& runner, const Fixture& f, const Routing& routing,
                  const std::vector<float>& x, const std::string& what) {
  const auto expected = expect_moe(f.problem, {.weights = &f.weights, .routing = &routing, .x = x.data()});
  testing::expect_within(run(runner, f, routing, x, 2), expected, what);
}

TEST(Moe, RunnersMatchTheDefinition) {
  std::mt19937 rng(5);
  for (WeightFormat format :
       {WeightFormat::nvfp4, WeightFormat::bf16, WeightFormat::mxfp4, WeightFormat::fp8_block}) {
    for (bool shared : {false, true}) {
      const Fixture f(format, shared, rng);
      for (int64_t tokens : {1, 2, 9}) {
        const auto x = random_values(ValueKind::normal, tokens * kHidden, rng);
        const auto routing = make_routing(
            tokens, [&](int64_t t, int64_t c) { return static_cast<int32_t>((t * 5 + c * 2) % kExperts); },
            rng);
        for (const MoeRunner* runner : moe_runners()) {
          expect_close(
              *runner, f, routing, x,
              fmt::format("{} {} shared {} tokens {}", runner->name(), name_of(format), shared, tokens));
        }
      }
    }
  }
}

TEST(Moe, SkewedAndMaskedRouting) {
  std::mt19937 rng(6);
  const Fixture f(WeightFormat::nvfp4, true, rng);
  const auto x = random_values(ValueKind::normal, 9 * kHidden, rng);
  const std::vector<std::pair<const char*, std::function<int32_t(int64_t, int64_t)>>> cases = {
      {"all to one expert", [](int64_t, int64_t) { return 2; }},
      {"last expert hot",
       [](int64_t, int64_t c) { return c == 0 ? int32_t{kExperts - 1} : static_cast<int32_t>(c); }},
      {"masked rows", [](int64_t t, int64_t c) { return t % 2 == 0 ? -1 : static_cast<int32_t>(c); }}};
  for (const auto& [what, expert] : cases) {
    const Routing routing = make_routing(9, expert, rng);
    for (const MoeRunner* runner : moe_runners()) {
      expect_close(*runner, f, routing, x, fmt::format("{} {}", runner->name(), what));
    }
  }
}

TEST(Moe, RowInvariantRunnersGiveATokenTheSameBitsInAnyBatch) {
  std::mt19937 rng(7);
  const Fixture f(WeightFormat::nvfp4, true, rng);
  const auto x = random_values(ValueKind::normal, 17 * kHidden, rng);
  const auto routing = make_routing(
      17,
      [&](int64_t, int64_t c) { return static_cast<int32_t>((rng() % 2) * 3 + static_cast<uint32_t>(c)); },
      rng);
  for (const MoeRunner* runner : moe_runners()) {
    const auto together = run(*runner, f, routing, x, 2);
    for (int64_t t = 0; t < 17; ++t) {
      Routing alone{.tokens = 1, .top_k = kTopK};
      alone.expert.assign(routing.expert.begin() + t * kTopK, routing.expert.begin() + (t + 1) * kTopK);
      alone.weight.assign(routing.weight.begin() + t * kTopK, routing.weight.begin() + (t + 1) * kTopK);
      group_by_expert(alone, kExperts);
      const auto out = run(*runner, f, alone, {x.begin() + t * kHidden, x.begin() + (t + 1) * kHidden}, 1);
      ASSERT_EQ(0, std::memcmp(out.data(), together.data() + t * kHidden, kHidden * sizeof(float)))
          << runner->name();
    }
  }
}

TEST(Moe, NoTokensIsNoWork) {
  std::mt19937 rng(8);
  const Fixture f(WeightFormat::bf16, true, rng);
  Routing none{.tokens = 0, .top_k = kTopK};
  group_by_expert(none, kExperts);
  for (const MoeRunner* runner : moe_runners()) EXPECT_TRUE(run(*runner, f, none, {}, 2).empty());
}

}  // namespace
}  // namespace assay::kernels
