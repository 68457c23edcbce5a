// What Gated DeltaNet means, token by token in fp64. The state is FP32 by definition: it is rounded after
// each token, so that cutting a sequence into steps changes nothing.
#include "kernels/delta/reference.h"

#include <cmath>
#include <vector>

#include "kernels/plan/reference_numeric.h"

namespace assay::kernels {
namespace {

double softplus(double x) {
  return x > 20 ? x : std::log1p(std::exp(x));
}

// One sequence on its way through the step.
class Walk {
 public:
  Walk(const DeltaProblem& problem, const DeltaArgs& args, const DeltaSequence& sequence)
      : p_(problem),
        args_(args),
        sequence_(sequence),
        state_(static_cast<size_t>(problem.state_floats()), 0.0f) {
    if (sequence.state_in != nullptr)
      state_.assign(sequence.state_in, sequence.state_in + problem.state_floats());
  }

  void run() {
    for (int64_t i = 0; i < sequence_.row_count; ++i) {
      const int64_t row = sequence_.row_begin + i;
      const std::vector<double> u = convolve(args_.qkv + row * p_.channels());
      for (int64_t h = 0; h < p_.value_heads; ++h) step(u, row, h);
      float* keep = sequence_.state_out[static_cast<size_t>(i)];
      if (keep != nullptr) std::copy(state_.begin(), state_.end(), keep);
    }
  }

 private:
  std::vector<double> convolve(const float* input) {
    std::vector<double> u;
    for (int64_t c = 0; c < p_.channels(); ++c) {
      float* history = state_.data() + c * (p_.conv_width - 1);
      const float* taps = args_.conv_weight + c * p_.conv_width;
      double sum = static_cast<double>(taps[p_.conv_width - 1]) * input[c];
      for (int64_t j = 0; j < p_.conv_width - 1; ++j) sum += static_cast<double>(taps[j]) * history[j];
      u.push_back(reference::round_result(reference::silu(sum), p_.precision));
      for (int64_t j = 0; j + 1 < p_.conv_width - 1; ++j) history[j] = history[j + 1];
      history[p_.conv_width - 2] = input[c];
    }
    return u;
  }

  // u's slice scaled to unit length, times `factor`.
  std::vector<double> unit(const std::vector<double>& u, int64_t begin, double factor) const {
    double squares = 0;
    for (int64_t i = 0; i < p_.key_dim; ++i)
      squares += u[static_cast<size_t>(begin + i)] * u[static_cast<size_t>(begin + i)];
    std::vector<double> out;
    for (int64_t i = 0; i < p_.key_dim; ++i) {
      out.push_back(u[static_cast<size_t>(begin + i)] / std::sqrt(squares + 1e-6) * factor);
    }
    return out;
  }

  void step(const std::vector<double>& u, int64_t row, int64_t h) {
    const int64_t key_head = h / (p_.value_heads / p_.key_heads);
    const auto q = unit(u, key_head * p_.key_dim, 1.0 / std::sqrt(static_cast<double>(p_.key_dim)));
    const auto k = unit(u, (p_.key_heads + key_head) * p_.key_dim, 1.0);
    const double beta = reference::sigmoid(args_.b[row * p_.value_heads + h]);
    const double a = static_cast<double>(args_.a[row * p_.value_heads + h]) + args_.dt_bias[h];
    const double decay = std::exp(-std::exp(static_cast<double>(args_.a_log[h])) * softplus(a));
    std::vector<double> o;
    for (int64_t j = 0; j < p_.value_dim; ++j) {
      float* s = state_.data() + p_.history_floats() + (h * p_.value_dim + j) * p_.key_dim;
      const double v = u[static_cast<size_t>(2 * p_.key_heads * p_.key_dim + h * p_.value_dim + j)];
      double seen = 0, out = 0;
      for (int64_t i = 0; i < p_.key_dim; ++i) seen += decay * s[i] * k[static_cast<size_t>(i)];
      const double d = beta * (v - seen);
      for (int64_t i = 0; i < p_.key_dim; ++i) {
        const double updated = decay * s[i] + k[static_cast<size_t>(i)] * d;
        out += updated * q[static_cast<size_t>(i)];
        s[i] = static_cast<float>(updated);
      }
      o.push_back(reference::round_result(out, p_.precision));
    }
    gated_norm(o, row, h);
  }

  void gated_norm(const std::vector<double>& o, int64_t row, int64_t h) {
    double squares = 0;
    for (double x : o) squares += x * x;
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(p_.value_dim) + p_.eps);
    const int64_t base = (row * p_.value_heads + h) * p_.value_dim;
    for (int64_t j = 0; j < p_.value_dim; ++j) {
      const double y =
          o[static_cast<size_t>(j)] * scale * args_.norm_weight[j] * reference::silu(args_.z[base + j]);
      args_.out[base + j] = reference::round_result(y, p_.precision);
    }
  }

  const DeltaProblem& p_;
  const DeltaArgs& args_;
  const DeltaSequence& sequence_;
  std::vector<float> state_;
};

class Reference final : public DeltaRunner {
 public:
  std::string_view name() const override { return "reference"; }
  Determinism determinism() const override { return Determinism::row_invariant; }
  Verdict accepts(const DeltaProblem&) const override { return Verdict::yes(); }
  size_t scratch_bytes(const DeltaProblem&, int64_t, int) const override { return 0; }
  void run(const DeltaProblem& problem, const DeltaArgs& args, const CpuContext&) const override {
    for (const DeltaSequence& sequence : args.sequences) Walk(problem, args, sequence).run();
  }
};

}  // namespace

const DeltaRunner* delta_reference() {
  static const Reference runner;
  return &runner;
}

}  // namespace assay::kernels
