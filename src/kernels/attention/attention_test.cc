// Every attention runner against the reference: paged, grouped, at any cut of a sequence into steps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "kernels/attention/expected.h"
#include "kernels/attention/reference.h"
#include "kernels/attention/runner.h"
#include "kernels/testing/expect.h"

namespace assay::kernels {
namespace {

struct Inputs {
  AttentionProblem problem;
  int64_t length;
  std::vector<float> q, k, v;  // q rows: [heads][q | gate] as gated attention has them
  std::vector<int32_t> pages;

  Inputs(AttentionProblem p, int64_t rows, ValueKind shape, std::mt19937& rng) : problem(p), length(rows) {
    problem.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(p.head_dim)));
    q = random_values(shape, rows * p.heads * 2 * p.head_dim, rng);
    k = random_values(shape, rows * p.kv_heads * p.head_dim, rng);
    v = random_values(ValueKind::normal, rows * p.kv_heads * p.head_dim, rng);
    pages.resize(static_cast<size_t>((rows + p.page_size - 1) / p.page_size));
    std::iota(pages.begin(), pages.end(), 0);
    std::shuffle(pages.begin(), pages.end(), rng);
  }
};

// The whole sequence in steps of `chunk` rows.
std::vector<float> run(const AttentionRunner& runner, const Inputs& in, int64_t chunk, int threads) {
  const AttentionProblem& p = in.problem;
  ThreadPool pool(threads);
  testing::Context context(pool, runner.scratch_bytes(p, in.length, threads));
  const int64_t half = p.page_size * p.kv_heads * p.head_dim;
  std::vector<float> cache(in.pages.size() * static_cast<size_t>(2 * half), NAN);
  std::vector<float> out(static_cast<size_t>(in.length * p.heads * p.head_dim), NAN);
  for (int64_t at = 0; at < in.length; at += chunk) {
    const AttentionSequence sequence{0, std::min(chunk, in.length - at), at, in.pages};
    runner.run(p,
               {.q = in.q.data() + at * p.heads * 2 * p.head_dim,
                .q_row_stride = p.heads * 2 * p.head_dim,
                .q_head_stride = 2 * p.head_dim,
                .k = in.k.data() + at * p.kv_heads * p.head_dim,
                .v = in.v.data() + at * p.kv_heads * p.head_dim,
                .sequences = std::span(&sequence, 1),
                .cache = {cache.data(), cache.data() + half, 2 * half},
                .out = out.data() + at * p.heads * p.head_dim},
               context.cpu);
  }
  return out;
}

// Without any paging: the whole sequence in one call.
void expect_close(const AttentionRunner& runner, const Inputs& in, const std::string& what) {
  const AttentionProblem& p = in.problem;
  const AttentionSequence sequence{0, in.length, 0, in.pages};
  const auto expected = expect_attention(p, {.q = in.q.data(),
                                             .q_row_stride = p.heads * 2 * p.head_dim,
                                             .q_head_stride = 2 * p.head_dim,
                                             .k = in.k.data(),
                                             .v = in.v.data(),
                                             .sequences = std::span(&sequence, 1)});
  testing::expect_within(run(runner, in, 5, 2), expected, what);
}

TEST(Attention, RunnersMatchTheDefinition) {
  std::mt19937 rng(11);
  for (const AttentionProblem& p : {AttentionProblem{4, 2, 32, 16}, AttentionProblem{4, 4, 64, 8},
                                    AttentionProblem{8, 1, 16, 64}, AttentionProblem{2, 1, 256, 16}}) {
    for (int64_t length : {1, 2, 15, 16, 17, 70}) {
      for (ValueKind shape : {ValueKind::normal, ValueKind::heavy_tailed}) {
        const Inputs in(p, length, shape, rng);
        for (const AttentionRunner* runner : attention_runners()) {
          expect_close(*runner, in, fmt::format("{} {} length {}", runner->name(), to_string(p), length));
        }
      }
    }
  }
}

TEST(Attention, NoCutAndNoPageLayoutChangesABit) {
  std::mt19937 rng(12);
  const Inputs in({4, 2, 32, 16}, 67, ValueKind::normal, rng);
  Inputs moved = in;
  moved.problem.page_size = 64;
  moved.pages = {1, 0};
  for (const AttentionRunner* runner : attention_runners()) {
    const auto whole = run(*runner, in, 67, 2);
    for (int64_t chunk : {1, 7, 16})
      EXPECT_EQ(whole, run(*runner, in, chunk, 1)) << runner->name() << " " << chunk;
    EXPECT_EQ(whole, run(*runner, moved, 67, 2)) << runner->name();
  }
}

TEST(Attention, EqualScoresAverageTheValues) {
  std::mt19937 rng(13);
  Inputs in({1, 1, 16, 4}, 5, ValueKind::normal, rng);
  std::fill(in.k.begin(), in.k.end(), 0.0f);
  for (size_t i = 0; i < in.v.size(); ++i) in.v[i] = static_cast<float>(i / 16);  // value of token t is t
  const auto out = run(*attention_reference(), in, 5, 1);
  for (int64_t row = 0; row < 5; ++row)
    EXPECT_FLOAT_EQ(out[static_cast<size_t>(row * 16)], static_cast<float>(row) / 2);
}

}  // namespace
}  // namespace assay::kernels
