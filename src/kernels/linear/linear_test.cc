// Every linear runner against the reference, in every format.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/linear/expected.h"
#include "kernels/linear/reference.h"
#include "kernels/linear/runner.h"
#include "kernels/plan/reference_numeric.h"
#include "kernels/testing/expect.h"
#include "numeric/float_formats.h"

namespace assay::kernels {
namespace {

struct Case {
  QuantView weight;
  std::vector<float> x;
  int64_t rows;
};

std::vector<float> run(const LinearRunner& runner, const Case& c, int threads) {
  ThreadPool pool(threads);
  const LinearProblem problem{.inputs = c.weight.cols, .format = c.weight.format};
  Arena arena;
  const QuantView packed = runner.pack(c.weight, arena);
  testing::Context context(pool, runner.scratch_bytes(problem, c.rows, threads));
  std::vector<float> y(static_cast<size_t>(c.rows * c.weight.rows), NAN);
  const LinearPart part{&packed, y.data(), c.weight.rows};
  runner.run(problem,
             {.rows = c.rows, .x = c.x.data(), .x_stride = c.weight.cols, .parts = std::span(&part, 1)},
             context.cpu);
  return y;
}

void expect_close(const LinearRunner& runner, const Case& c, const std::string& what) {
  const LinearPart part{&c.weight, nullptr, 0};
  const auto expected = expect_linear({.rows = c.rows, .x = c.x.data(), .x_stride = c.weight.cols}, part);
  testing::expect_within(run(runner, c, 2), expected, what);
}

TEST(Linear, RunnersMatchTheDefinitionInEveryFormat) {
  std::mt19937 rng(1);
  for (WeightFormat format : testing::kAllFormats) {
    for (ValueKind shape : {ValueKind::normal, ValueKind::heavy_tailed, ValueKind::tiny}) {
      for (int64_t rows : {1, 2, 7, 9}) {
        Arena arena;
        const Case c{random_weight(format, 130, 160, rng, arena), random_values(shape, rows * 160, rng),
                     rows};
        for (const LinearRunner* runner : linear_runners()) {
          expect_close(
              *runner, c,
              fmt::format("{} {} rows {} shape {}", runner->name(), name_of(format), rows, int(shape)));
        }
      }
    }
  }
}

TEST(Linear, OneHotInputReadsAColumnExactly) {
  std::mt19937 rng(2);
  for (WeightFormat format : testing::kAllFormats) {
    Arena arena;
    const QuantView w = random_weight(format, 65, 96, rng, arena);
    for (int64_t column : {0, 1, 15, 16, 31, 32, 95}) {
      std::vector<float> x(96, 0.0f);
      x[static_cast<size_t>(column)] = 1.0f;
      for (const LinearRunner* runner : linear_runners()) {
        const auto y = run(*runner, {w, x, 1}, 1);
        for (int64_t n = 0; n < 65; ++n) {
          const double expected = reference::weight_row(w, n)[static_cast<size_t>(column)];
          ASSERT_LE(std::fabs(y[static_cast<size_t>(n)] - expected), 2 * kUnitF32 * std::fabs(expected))
              << runner->name() << " " << name_of(format) << " column " << column;
        }
      }
    }
  }
}

TEST(Linear, RowInvariantRunnersGiveARowTheSameBitsInAnyBatch) {
  std::mt19937 rng(3);
  Arena arena;
  const QuantView w = random_weight(WeightFormat::nvfp4, 64, 96, rng, arena);
  const auto x = random_values(ValueKind::normal, 33 * 96, rng);
  for (const LinearRunner* runner : linear_runners()) {
    if (runner->determinism() != Determinism::row_invariant) continue;
    const auto together = run(*runner, {w, x, 33}, 2);
    for (int64_t m = 0; m < 33; ++m) {
      const auto alone = run(*runner, {w, {x.begin() + m * 96, x.begin() + (m + 1) * 96}, 1}, 1);
      ASSERT_EQ(0, std::memcmp(alone.data(), together.data() + m * 64, 64 * sizeof(float))) << runner->name();
    }
  }
}

TEST(Linear, ReferenceByHand) {
  // NVFP4: row of 16 with codes 0x21 ... = 0.5, 1 in the first pair; scale 2, global 0.25.
  std::vector<uint8_t> codes(8, 0), scales = {numeric::encode_e4m3(2.0f)};
  codes[0] = 0x21;
  const QuantView w{.format = WeightFormat::nvfp4,
                    .rows = 1,
                    .cols = 16,
                    .codes = reinterpret_cast<std::byte*>(codes.data()),
                    .scales = reinterpret_cast<std::byte*>(scales.data()),
                    .global = 0.25f};
  std::vector<float> x(16, 0.0f);
  x[0] = 3, x[1] = 5;
  EXPECT_EQ(run(*linear_reference(), {w, x, 1}, 1)[0], 0.25f * (3 * 0.5f * 2 / 1 + 5 * 1 * 2));
}

TEST(Linear, PrecisionClassesRoundWhereTheySay) {
  std::mt19937 rng(4);
  Arena arena;
  QuantView w = random_weight(WeightFormat::nvfp4, 32, 32, rng, arena);
  w.input_scale = 0.002f;
  const auto x = random_values(ValueKind::normal, 32, rng);
  ThreadPool pool(1);
  testing::Context context(pool, 0);
  std::vector<float> y(32);
  const LinearPart part{&w, y.data(), 32};
  const LinearArgs args{.rows = 1, .x = x.data(), .x_stride = 32, .parts = std::span(&part, 1)};
  linear_reference()->run({32, WeightFormat::nvfp4, PrecisionClass::w4a16}, args, context.cpu);
  for (float v : y) EXPECT_EQ(v, numeric::round_to_bf16(v));
  linear_reference()->run({32, WeightFormat::nvfp4, PrecisionClass::w4a4}, args, context.cpu);
  const auto exact = run(*linear_reference(), {w, x, 1}, 1);
  EXPECT_NE(exact, y);  // the inputs were quantised
}

TEST(Linear, PlainRefusesOtherClassesWithAReason) {
  const LinearProblem problem{.inputs = 32, .format = WeightFormat::bf16, .precision = PrecisionClass::w4a16};
  const Verdict verdict = linear_runners()[0]->accepts(problem);
  EXPECT_FALSE(verdict);
  EXPECT_NE(verdict.reason().find("w4a16"), std::string::npos);
}

}  // namespace
}  // namespace assay::kernels
