// Every runner of the small operations against hand-written fp64.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/small/expected.h"
#include "kernels/testing/expect.h"

namespace assay::kernels {
namespace {

TEST(Small, AddNormMatchesTheDefinition) {
  std::mt19937 rng(21);
  constexpr int64_t kRows = 9, kHidden = 96;
  const SmallProblem problem{.hidden = kHidden};
  for (ValueKind shape : {ValueKind::normal, ValueKind::heavy_tailed, ValueKind::tiny}) {
    const auto residual = random_values(shape, kRows * kHidden, rng);
    const auto delta = random_values(shape, kRows * kHidden, rng);
    const auto weight = random_values(ValueKind::normal, kHidden, rng);
    std::vector<float> inputs = residual;
    const Expected expected =
        expect_add_norm(problem, {kRows, inputs.data(), delta.data(), weight.data(), 1e-6f});
    ThreadPool pool(2);
    testing::Context context(pool, 0);
    for (const SmallRunner* runner : small_runners()) {
      std::vector<float> stream = residual, out(residual.size(), NAN);
      runner->add_norm(problem, {kRows, stream.data(), delta.data(), weight.data(), 1e-6f, out.data()},
                       context.cpu);
      testing::expect_within(out, expected,
                             fmt::format("{} shape {}", runner->name(), static_cast<int>(shape)));
      for (size_t i = 0; i < stream.size(); ++i) ASSERT_EQ(stream[i], residual[i] + delta[i]);
      runner->add_norm(problem, {kRows, stream.data(), nullptr, weight.data(), 1e-6f, out.data()},
                       context.cpu);
      testing::expect_within(out, expected, "without delta");
    }
  }
}

TEST(Small, RopeTurnsOnlyItsPairsAndNormComesFirst) {
  std::mt19937 rng(22);
  constexpr int64_t kHeads = 3, kDim = 32, kRotary = 8, kStride = 2 * kDim, kRows = 5;
  std::vector<double> frequency;
  for (int i = 0; i < kRotary / 2; ++i) frequency.push_back(std::pow(1e7, -2.0 * i / kRotary));
  const std::vector<int32_t> positions = {0, 1, 77, 4095, 262143};
  const auto input = random_values(ValueKind::normal, kRows * kHeads * kStride, rng);
  const auto weight = random_values(ValueKind::normal, kDim, rng);
  std::vector<float> before = input;
  NormRopeArgs args{.rows = kRows,
                    .heads = kHeads,
                    .head_dim = kDim,
                    .head_stride = kStride,
                    .row_stride = kHeads * kStride,
                    .x = before.data(),
                    .norm_weight = weight.data(),
                    .eps = 1e-6f,
                    .rotary_dim = kRotary,
                    .inverse_frequency = frequency.data(),
                    .positions = positions};
  const Expected expected = expect_norm_rope(args);
  ThreadPool pool(2);
  testing::Context context(pool, 0);
  for (const SmallRunner* runner : small_runners()) {
    std::vector<float> x = input, heads;
    args.x = x.data();
    runner->norm_rope({.hidden = 1}, args, context.cpu);
    for (int64_t head = 0; head < kRows * kHeads; ++head) {
      for (int64_t i = 0; i < kStride; ++i) {
        const auto at = static_cast<size_t>(head * kStride + i);
        if (i < kDim)
          heads.push_back(x[at]);
        else
          ASSERT_EQ(x[at], input[at]) << "the gate between heads was touched";
      }
    }
    testing::expect_within(heads, expected, std::string(runner->name()));
  }
}

TEST(Small, SigmoidGateReadsItsOwnHead) {
  std::mt19937 rng(23);
  constexpr int64_t kRows = 5, kHeads = 2, kDim = 16;
  const auto input = random_values(ValueKind::normal, kRows * kHeads * kDim, rng);
  const auto gate = random_values(ValueKind::normal, kRows * kHeads * 2 * kDim, rng);
  std::vector<float> before = input;
  GateArgs args{kRows, kHeads, kDim, before.data(), gate.data() + kDim, 2 * kDim, kHeads * 2 * kDim};
  const Expected expected = expect_gate(args);
  ThreadPool pool(2);
  testing::Context context(pool, 0);
  for (const SmallRunner* runner : small_runners()) {
    std::vector<float> x = input;
    args.x = x.data();
    runner->sigmoid_gate({.hidden = 1}, args, context.cpu);
    testing::expect_within(x, expected, std::string(runner->name()));
  }
}

}  // namespace
}  // namespace assay::kernels
