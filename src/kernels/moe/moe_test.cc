// Every expert-block runner against the reference, with bounds added up stage by stage.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/moe/reference.h"
#include "kernels/moe/runner.h"
#include "kernels/plan/reference_numeric.h"
#include "kernels/testing/weights.h"

namespace assay::kernels {
namespace {

using testing::Shape;

constexpr int64_t kHidden = 64, kInter = 96, kShared = 32, kExperts = 6, kTopK = 3;

struct Fixture {
  Arena arena;
  MoeProblem problem;
  MoeWeights weights;

  Fixture(WeightFormat format, bool shared, std::mt19937& rng) {
    problem = {
        .hidden = kHidden, .intermediate = kInter, .experts = kExperts, .top_k = kTopK, .format = format};
    const auto expert = [&](WeightFormat f, int64_t inter) {
      return ExpertWeights{testing::random_weight(f, inter, kHidden, rng, arena),
                           testing::random_weight(f, inter, kHidden, rng, arena),
                           testing::random_weight(f, kHidden, inter, rng, arena)};
    };
    for (int64_t e = 0; e < kExperts; ++e) weights.experts.push_back(expert(format, kInter));
    if (!shared) return;
    problem.shared_intermediate = kShared;
    problem.shared_gate = true;
    weights.shared = expert(WeightFormat::bf16, kShared);
    weights.shared_gate = testing::random_input(Shape::normal, kHidden, rng);
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

struct Value {
  double value = 0, error = 0;
};

Value product(const std::vector<double>& row, std::span<const Value> x) {
  Value sum;
  double magnitudes = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    sum.value += row[i] * x[i].value;
    sum.error += std::fabs(row[i]) * x[i].error;
    magnitudes += std::fabs(row[i] * x[i].value);
  }
  sum.error +=
      sum_error(static_cast<int64_t>(row.size()), magnitudes, sum.value) + kUnitF32 * std::fabs(sum.value);
  return sum;
}

// silu has slope at most 1.1; exp, division and product add a few roundings.
Value activate(const Value& gate, const Value& up) {
  const double s = reference::silu(gate.value);
  return {s * up.value, 1.1 * gate.error * (std::fabs(up.value) + up.error) + std::fabs(s) * up.error +
                            8 * kUnitF32 * std::fabs(s * up.value)};
}

std::vector<Value> expert_output(const ExpertWeights& e, std::span<const Value> x) {
  std::vector<Value> active, out;
  for (int64_t n = 0; n < e.gate.rows; ++n) {
    active.push_back(
        activate(product(reference::weight_row(e.gate, n), x), product(reference::weight_row(e.up, n), x)));
  }
  for (int64_t n = 0; n < e.down.rows; ++n) out.push_back(product(reference::weight_row(e.down, n), active));
  return out;
}

void expect_close(const MoeRunner& runner, const Fixture& f, const Routing& routing,
                  const std::vector<float>& x, const std::string& what) {
  std::vector<double> reference, bound;
  for (int64_t t = 0; t < routing.tokens; ++t) {
    std::vector<Value> in;
    for (int64_t i = 0; i < kHidden; ++i) in.push_back({x[static_cast<size_t>(t * kHidden + i)], 0});
    std::vector<Value> sum(kHidden);
    const auto add = [&](double weight, double weight_error, const std::vector<Value>& y) {
      for (size_t i = 0; i < sum.size(); ++i) {
        sum[i].value += weight * y[i].value;
        sum[i].error += weight * y[i].error + (weight_error + 6 * kUnitF32 * weight) * std::fabs(y[i].value);
      }
    };
    for (int64_t c = 0; c < kTopK; ++c) {
      const auto pair = static_cast<size_t>(t * kTopK + c);
      if (routing.expert[pair] < 0) continue;
      add(routing.weight[pair], 0,
          expert_output(f.weights.experts[static_cast<size_t>(routing.expert[pair])], in));
    }
    if (f.problem.shared_intermediate > 0) {
      const Value logit = product({f.weights.shared_gate.begin(), f.weights.shared_gate.end()}, in);
      add(reference::sigmoid(logit.value), 0.25 * logit.error, expert_output(f.weights.shared, in));
    }
    for (const Value& v : sum) {
      reference.push_back(v.value);
      bound.push_back(v.error + 1e-37);
    }
  }
  testing::expect_within(run(runner, f, routing, x, 2), reference, bound, what);
}

TEST(Moe, RunnersMatchTheDefinition) {
  std::mt19937 rng(5);
  for (WeightFormat format :
       {WeightFormat::nvfp4, WeightFormat::bf16, WeightFormat::mxfp4, WeightFormat::fp8_block}) {
    for (bool shared : {false, true}) {
      const Fixture f(format, shared, rng);
      for (int64_t tokens : {1, 2, 9}) {
        const auto x = testing::random_input(Shape::normal, tokens * kHidden, rng);
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
  const auto x = testing::random_input(Shape::normal, 9 * kHidden, rng);
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
  const auto x = testing::random_input(Shape::normal, 17 * kHidden, rng);
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
