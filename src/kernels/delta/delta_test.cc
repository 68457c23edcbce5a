// Every delta runner against the reference, over lengths around the chunk size, with and without an incoming
// state.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/delta/expected.h"
#include "kernels/delta/reference.h"
#include "kernels/delta/runner.h"
#include "kernels/testing/expect.h"

namespace assay::kernels {
namespace {

struct Inputs {
  DeltaProblem problem;
  int64_t rows;
  std::vector<float> qkv, z, b, a, conv, a_log, dt_bias, norm, state;

  Inputs(DeltaProblem p, int64_t row_count, std::mt19937& rng) : problem(p), rows(row_count) {
    const auto normal = [&](int64_t n) { return random_values(ValueKind::normal, n, rng); };
    qkv = normal(rows * p.channels());
    z = normal(rows * p.value_heads * p.value_dim);
    b = normal(rows * p.value_heads);
    a = normal(rows * p.value_heads);
    conv = normal(p.channels() * p.conv_width);
    a_log = normal(p.value_heads);
    dt_bias = normal(p.value_heads);
    norm = normal(p.value_dim);
    state = normal(p.state_floats());
  }
};

struct Outputs {
  std::vector<float> out, state;
  bool operator==(const Outputs&) const = default;
};

// `chunk` rows a step; states are kept in place. `snapshots`: row -> where its state goes too.
Outputs run(const DeltaRunner& runner, const Inputs& in, int64_t chunk, bool fresh, int threads,
            const std::vector<std::pair<int64_t, float*>>& snapshots = {}) {
  const DeltaProblem& p = in.problem;
  ThreadPool pool(threads);
  testing::Context context(pool, runner.scratch_bytes(p, in.rows, threads));
  std::memset(context.scratch.data(), 0xFF, context.scratch.bytes());
  Outputs o{std::vector<float>(static_cast<size_t>(in.rows * p.value_heads * p.value_dim), NAN), in.state};
  for (int64_t at = 0; at < in.rows; at += chunk) {
    const int64_t n = std::min(chunk, in.rows - at);
    std::vector<float*> keep(static_cast<size_t>(n), nullptr);
    for (auto [row, to] : snapshots) {
      if (row >= at && row < at + n) keep[static_cast<size_t>(row - at)] = to;
    }
    keep.back() = o.state.data();
    const DeltaSequence sequence{0, n, fresh && at == 0 ? nullptr : o.state.data(), keep};
    const int64_t values = p.value_heads * p.value_dim;
    runner.run(p,
               {.qkv = in.qkv.data() + at * p.channels(),
                .z = in.z.data() + at * values,
                .b = in.b.data() + at * p.value_heads,
                .a = in.a.data() + at * p.value_heads,
                .conv_weight = in.conv.data(),
                .a_log = in.a_log.data(),
                .dt_bias = in.dt_bias.data(),
                .norm_weight = in.norm.data(),
                .rows = n,
                .sequences = std::span(&sequence, 1),
                .out = o.out.data() + at * values},
               context.cpu);
  }
  return o;
}

Expected expected_of(const Inputs& in, bool fresh) {
  std::vector<float> state = in.state;
  std::vector<float*> keep(static_cast<size_t>(in.rows), nullptr);
  const DeltaSequence sequence{0, in.rows, fresh ? nullptr : state.data(), keep};
  return expect_delta(in.problem, {.qkv = in.qkv.data(),
                                   .z = in.z.data(),
                                   .b = in.b.data(),
                                   .a = in.a.data(),
                                   .conv_weight = in.conv.data(),
                                   .a_log = in.a_log.data(),
                                   .dt_bias = in.dt_bias.data(),
                                   .norm_weight = in.norm.data(),
                                   .rows = in.rows,
                                   .sequences = std::span(&sequence, 1)});
}

const DeltaProblem kProblems[] = {{2, 4, 32, 32, 4}, {1, 2, 64, 16, 4}, {2, 2, 16, 48, 3}};

TEST(Delta, RunnersMatchTheDefinition) {
  std::mt19937 rng(31);
  for (const DeltaProblem& p : kProblems) {
    for (int64_t rows : {1, 2, 63, 64, 65, 200}) {
      for (bool fresh : {true, false}) {
        const Inputs in(p, rows, rng);
        const Expected expected = expected_of(in, fresh);
        for (const DeltaRunner* runner : delta_runners()) {
          testing::expect_within(
              run(*runner, in, rows, fresh, 2).out, expected,
              fmt::format("{} {} rows {} fresh {}", runner->name(), to_string(p), rows, fresh));
        }
      }
    }
  }
}

TEST(Delta, RowInvariantRunnersAreUnmovedByTheCut) {
  std::mt19937 rng(32);
  const Inputs in(kProblems[0], 130, rng);
  for (const DeltaRunner* runner : delta_runners()) {
    if (runner->determinism() != Determinism::row_invariant) continue;
    const Outputs whole = run(*runner, in, 130, false, 2);
    for (int64_t chunk : {1, 2, 7, 64})
      EXPECT_TRUE(whole == run(*runner, in, chunk, false, 1)) << runner->name() << " " << chunk;
  }
}

TEST(Delta, ChunkedAndRecurrentAgreeOnTheState) {
  std::mt19937 rng(33);
  for (int64_t rows : {1, 63, 64, 65, 200}) {
    const Inputs in(kProblems[0], rows, rng);
    const Outputs expected = run(*delta_reference(), in, 1, false, 1);
    for (const DeltaRunner* runner : delta_runners()) {
      const Outputs found = run(*runner, in, rows, false, 2);
      for (size_t i = 0; i < expected.state.size(); ++i) {
        ASSERT_NEAR(found.state[i], expected.state[i], 1e-5 * std::max(1.0f, std::fabs(expected.state[i])))
            << runner->name() << " rows " << rows << " at " << i;
      }
    }
  }
}

TEST(Delta, SnapshotsAreTheStateOfTheirRow) {
  std::mt19937 rng(34);
  const Inputs in(kProblems[0], 70, rng);
  for (const DeltaRunner* runner : delta_runners()) {
    for (int64_t row : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{40}, int64_t{68}}) {
      std::vector<float> snapshot(in.state.size(), NAN);
      run(*runner, in, 70, false, 2, {{row, snapshot.data()}});
      Inputs prefix = in;
      prefix.rows = row + 1;
      const Outputs expected = run(*runner, prefix, row + 1, false, 2);
      if (runner->determinism() == Determinism::row_invariant) {
        ASSERT_EQ(snapshot, expected.state) << runner->name() << " row " << row;
      }
      for (size_t i = 0; i < snapshot.size(); ++i) {
        ASSERT_NEAR(snapshot[i], expected.state[i], 1e-5 * std::max(1.0f, std::fabs(expected.state[i])))
            << runner->name();
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels
