// Every delta runner against the reference, over lengths around the chunk size, with and without an incoming
// state.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/delta/reference.h"
#include "kernels/delta/runner.h"
#include "kernels/testing/weights.h"

namespace assay::kernels {
namespace {

using testing::Shape;

struct Inputs {
  DeltaProblem problem;
  int64_t rows;
  std::vector<float> qkv, z, b, a, conv, a_log, dt_bias, norm, state;

  Inputs(DeltaProblem p, int64_t row_count, std::mt19937& rng) : problem(p), rows(row_count) {
    const auto normal = [&](int64_t n) { return testing::random_input(Shape::normal, n, rng); };
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

// The recurrence in fp64 with a running bound. Per head and value row: the state row's error in 2-norm,
//   E <- e^g E + |k| * error(d) + rounding;  error(d) <= beta (E + rounding of v - S k) + error(beta) |v - S
//   k|,
// where inputs of the recurrence (u, beta, g) carry the error of a short chain of FP32 operations.
class Bound {
 public:
  Bound(const Inputs& in, bool fresh) : in_(in), p_(in.problem) {
    history_.assign(in.state.begin(), in.state.begin() + p_.history_floats());
    state_.assign(in.state.begin() + p_.history_floats(), in.state.end());
    if (fresh) {
      std::fill(history_.begin(), history_.end(), 0.0);
      std::fill(state_.begin(), state_.end(), 0.0);
    }
    error_.assign(static_cast<size_t>(p_.value_heads * p_.value_dim), 0.0);
    for (int64_t row = 0; row < in.rows; ++row) step(row);
  }
  std::vector<double> reference, bound;

 private:
  // A conv output's FP32 error against its magnitude: 4 products, silu.
  static constexpr double kFront = 32 * kUnitF32;

  double convolve(int64_t row, int64_t c, double* magnitude) {
    double sum = 0;
    for (int64_t j = 0; j < p_.conv_width; ++j) {
      const int64_t at = row - (p_.conv_width - 1) + j;
      const double x = at >= 0
                           ? in_.qkv[static_cast<size_t>(at * p_.channels() + c)]
                           : history_[static_cast<size_t>(c * (p_.conv_width - 1) + p_.conv_width - 1 + at)];
      const double product = x * in_.conv[static_cast<size_t>(c * p_.conv_width + j)];
      sum += product;
      *magnitude += std::fabs(product);
    }
    return sum / (1 + std::exp(-sum));
  }

  std::vector<double> unit(int64_t row, int64_t first, double factor, double* relative) {
    std::vector<double> u;
    double squares = 0, error = 0;
    for (int64_t i = 0; i < p_.key_dim; ++i) {
      double magnitude = 0;
      u.push_back(convolve(row, first + i, &magnitude));
      squares += u.back() * u.back();
      error += magnitude * magnitude;
    }
    for (double& x : u) x *= factor / std::sqrt(squares + 1e-6);
    *relative = kFront * std::sqrt(error) / std::sqrt(squares + 1e-6) +
                8 * kUnitF32 * std::sqrt(static_cast<double>(p_.key_dim));
    return u;
  }

  void step(int64_t row) {
    for (int64_t h = 0; h < p_.value_heads; ++h) {
      const int64_t kh = h / (p_.value_heads / p_.key_heads);
      double q_error = 0, k_error = 0;
      const auto q = unit(row, kh * p_.key_dim, 1 / std::sqrt(static_cast<double>(p_.key_dim)), &q_error);
      const auto k = unit(row, (p_.key_heads + kh) * p_.key_dim, 1, &k_error);
      const double beta =
          1 / (1 + std::exp(-static_cast<double>(in_.b[static_cast<size_t>(row * p_.value_heads + h)])));
      const double pre = static_cast<double>(in_.a[static_cast<size_t>(row * p_.value_heads + h)]) +
                         in_.dt_bias[static_cast<size_t>(h)];
      const double g =
          -std::exp(static_cast<double>(in_.a_log[static_cast<size_t>(h)])) * std::log1p(std::exp(pre));
      const double decay = std::exp(g), decay_error = 16 * kUnitF32 * (1 + std::fabs(g));
      const double root = kSafety * std::sqrt(static_cast<double>(p_.key_dim)) * kUnitF32;
      std::vector<double> o, o_error;
      for (int64_t j = 0; j < p_.value_dim; ++j) {
        double* s = state_.data() + (h * p_.value_dim + j) * p_.key_dim;
        double& error = error_[static_cast<size_t>(h * p_.value_dim + j)];
        double magnitude = 0, norm = 0, seen = 0;
        const double v = convolve(row, 2 * p_.key_heads * p_.key_dim + h * p_.value_dim + j, &magnitude);
        for (int64_t i = 0; i < p_.key_dim; ++i) {
          s[i] *= decay;
          norm += s[i] * s[i];
          seen += s[i] * k[static_cast<size_t>(i)];
        }
        norm = std::sqrt(norm);
        error = error * decay * (1 + decay_error) + norm * (decay_error + kUnitF32);
        const double d = beta * (v - seen);
        const double d_error = beta * (error + norm * (k_error + root) + kFront * magnitude +
                                       2 * kUnitF32 * (std::fabs(v) + std::fabs(seen))) +
                               8 * kUnitF32 * std::fabs(d);
        double out = 0, after = 0;
        for (int64_t i = 0; i < p_.key_dim; ++i) {
          s[i] += k[static_cast<size_t>(i)] * d;
          out += s[i] * q[static_cast<size_t>(i)];
          after += s[i] * s[i];
        }
        after = std::sqrt(after);
        error += d_error + std::fabs(d) * k_error + kUnitF32 * (after + std::fabs(d));
        const double q_norm = 1 / std::sqrt(static_cast<double>(p_.key_dim));
        o.push_back(out);
        o_error.push_back(q_norm * (error + after * (q_error + root)));
      }
      finish(row, h, o, o_error);
    }
  }

  // y = o r w silu(z) with r = 1 / rms(o): an error of o moves y directly and through r.
  void finish(int64_t row, int64_t h, const std::vector<double>& o, const std::vector<double>& o_error) {
    double squares = 0, error = 0;
    for (size_t j = 0; j < o.size(); ++j) {
      squares += o[j] * o[j];
      error += o_error[j] * o_error[j];
    }
    const double n = static_cast<double>(o.size()), r = 1 / std::sqrt(squares / n + p_.eps);
    for (size_t j = 0; j < o.size(); ++j) {
      const double z = in_.z[static_cast<size_t>((row * p_.value_heads + h) * p_.value_dim) + j];
      const double gate = in_.norm[j] * z / (1 + std::exp(-z));
      reference.push_back(o[j] * r * gate);
      const double through_r = std::fabs(o[j]) * r * r * std::sqrt(error / n);
      bound.push_back(std::fabs(gate) * r * (o_error[j] + through_r) +
                      16 * kUnitF32 * std::fabs(reference.back()) * std::sqrt(n) + 1e-37);
    }
  }

  const Inputs& in_;
  const DeltaProblem& p_;
  std::vector<double> history_, state_, error_;
};

const DeltaProblem kProblems[] = {{2, 4, 32, 32, 4}, {1, 2, 64, 16, 4}, {2, 2, 16, 48, 3}};

TEST(Delta, RunnersMatchTheDefinition) {
  std::mt19937 rng(31);
  for (const DeltaProblem& p : kProblems) {
    for (int64_t rows : {1, 2, 63, 64, 65, 200}) {
      for (bool fresh : {true, false}) {
        const Inputs in(p, rows, rng);
        const Bound expected(in, fresh);
        for (const DeltaRunner* runner : delta_runners()) {
          testing::expect_within(
              run(*runner, in, rows, fresh, 2).out, expected.reference, expected.bound,
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
