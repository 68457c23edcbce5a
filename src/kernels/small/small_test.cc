// Every runner of the small operations against hand-written fp64.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/small/runner.h"
#include "kernels/testing/weights.h"

namespace assay::kernels {
namespace {

using testing::Shape;

TEST(Small, AddNormMatchesTheDefinition) {
  std::mt19937 rng(21);
  constexpr int64_t kRows = 9, kHidden = 96;
  const SmallProblem problem{.hidden = kHidden};
  for (Shape shape : {Shape::normal, Shape::heavy_tailed, Shape::tiny}) {
    const auto residual = testing::random_input(shape, kRows * kHidden, rng);
    const auto delta = testing::random_input(shape, kRows * kHidden, rng);
    const auto weight = testing::random_input(Shape::normal, kHidden, rng);
    std::vector<double> reference, bound;
    for (int64_t r = 0; r < kRows; ++r) {
      double squares = 0;
      const auto sum = [&](int64_t i) {
        return static_cast<double>(residual[static_cast<size_t>(r * kHidden + i)]) +
               delta[static_cast<size_t>(r * kHidden + i)];
      };
      for (int64_t i = 0; i < kHidden; ++i) squares += sum(i) * sum(i);
      const double scale = 1 / std::sqrt(squares / kHidden + 1e-6);
      for (int64_t i = 0; i < kHidden; ++i) {
        const double magnitude = (std::fabs(residual[static_cast<size_t>(r * kHidden + i)]) +
                                  std::fabs(delta[static_cast<size_t>(r * kHidden + i)])) *
                                 scale * std::fabs(weight[static_cast<size_t>(i)]);
        reference.push_back(sum(i) * scale * weight[static_cast<size_t>(i)]);
        bound.push_back(sum_error(kHidden, magnitude, reference.back()) + 6 * kUnitF32 * magnitude);
      }
    }
    ThreadPool pool(2);
    testing::Context context(pool, 0);
    for (const SmallRunner* runner : small_runners()) {
      std::vector<float> stream = residual, out(residual.size(), NAN);
      runner->add_norm(problem, {kRows, stream.data(), delta.data(), weight.data(), 1e-6f, out.data()},
                       context.cpu);
      testing::expect_within(out, reference, bound,
                             fmt::format("{} shape {}", runner->name(), static_cast<int>(shape)));
      for (size_t i = 0; i < stream.size(); ++i) ASSERT_EQ(stream[i], residual[i] + delta[i]);
      runner->add_norm(problem, {kRows, stream.data(), nullptr, weight.data(), 1e-6f, out.data()},
                       context.cpu);
      testing::expect_within(out, reference, bound, "without delta");
    }
  }
}

TEST(Small, RopeTurnsOnlyItsPairsAndNormComesFirst) {
  std::mt19937 rng(22);
  constexpr int64_t kHeads = 3, kDim = 32, kRotary = 8, kStride = 2 * kDim, kRows = 5;
  std::vector<double> frequency;
  for (int i = 0; i < kRotary / 2; ++i) frequency.push_back(std::pow(1e7, -2.0 * i / kRotary));
  const std::vector<int32_t> positions = {0, 1, 77, 4095, 262143};
  const auto input = testing::random_input(Shape::normal, kRows * kHeads * kStride, rng);
  const auto weight = testing::random_input(Shape::normal, kDim, rng);
  std::vector<double> reference, bound;
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t h = 0; h < kHeads; ++h) {
      const float* x = input.data() + (r * kHeads + h) * kStride;
      double squares = 0;
      for (int64_t i = 0; i < kDim; ++i) squares += static_cast<double>(x[i]) * x[i];
      std::vector<double> y;
      for (int64_t i = 0; i < kDim; ++i)
        y.push_back(x[i] / std::sqrt(squares / kDim + 1e-6) * weight[static_cast<size_t>(i)]);
      std::vector<double> turned = y, magnitude;
      for (double v : y) magnitude.push_back(std::fabs(v));
      for (size_t i = 0; i < kRotary / 2; ++i) {
        const double a = positions[static_cast<size_t>(r)] * frequency[i];
        const size_t j = i + kRotary / 2;
        turned[i] = y[i] * std::cos(a) - y[j] * std::sin(a);
        turned[j] = y[j] * std::cos(a) + y[i] * std::sin(a);
        magnitude[i] = magnitude[j] = std::fabs(y[i]) + std::fabs(y[j]);
      }
      for (size_t i = 0; i < kDim; ++i) {
        reference.push_back(turned[i]);
        bound.push_back(sum_error(kDim, magnitude[i], turned[i]) + 6 * kUnitF32 * magnitude[i]);
      }
    }
  }
  ThreadPool pool(2);
  testing::Context context(pool, 0);
  for (const SmallRunner* runner : small_runners()) {
    std::vector<float> x = input, heads;
    runner->norm_rope({.hidden = 1},
                      {.rows = kRows,
                       .heads = kHeads,
                       .head_dim = kDim,
                       .head_stride = kStride,
                       .row_stride = kHeads * kStride,
                       .x = x.data(),
                       .norm_weight = weight.data(),
                       .eps = 1e-6f,
                       .rotary_dim = kRotary,
                       .inverse_frequency = frequency.data(),
                       .positions = positions},
                      context.cpu);
    for (int64_t head = 0; head < kRows * kHeads; ++head) {
      for (int64_t i = 0; i < kStride; ++i) {
        const auto at = static_cast<size_t>(head * kStride + i);
        if (i < kDim)
          heads.push_back(x[at]);
        else
          ASSERT_EQ(x[at], input[at]) << "the gate between heads was touched";
      }
    }
    testing::expect_within(heads, reference, bound, std::string(runner->name()));
  }
}

TEST(Small, SigmoidGateReadsItsOwnHead) {
  std::mt19937 rng(23);
  constexpr int64_t kRows = 5, kHeads = 2, kDim = 16;
  const auto input = testing::random_input(Shape::normal, kRows * kHeads * kDim, rng);
  const auto gate = testing::random_input(Shape::normal, kRows * kHeads * 2 * kDim, rng);
  std::vector<double> reference, bound;
  for (int64_t i = 0; i < kRows * kHeads * kDim; ++i) {
    const double g = gate[static_cast<size_t>(i / kDim * 2 * kDim + kDim + i % kDim)];
    reference.push_back(input[static_cast<size_t>(i)] / (1 + std::exp(-g)));
    bound.push_back(8 * kUnitF32 * std::fabs(input[static_cast<size_t>(i)]));
  }
  ThreadPool pool(2);
  testing::Context context(pool, 0);
  for (const SmallRunner* runner : small_runners()) {
    std::vector<float> x = input;
    runner->sigmoid_gate({.hidden = 1},
                         {kRows, kHeads, kDim, x.data(), gate.data() + kDim, 2 * kDim, kHeads * 2 * kDim},
                         context.cpu);
    testing::expect_within(x, reference, bound, std::string(runner->name()));
  }
}

}  // namespace
}  // namespace assay::kernels
