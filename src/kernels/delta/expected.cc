#include "kernels/delta/expected.h"

namespace assay::kernels {
namespace {

// The recurrence in fp64 with a running bound. Per head and value row: the state row's error in 2-norm,
//   E <- e^g E + |k| * error(d) + rounding;  error(d) <= beta (E + rounding of v - S k) + error(beta) |v - S
//   k|,
// where inputs of the recurrence (u, beta, g) carry the error of a short chain of FP32 operations.
class Walk {
 public:
  Walk(const DeltaProblem& problem, const DeltaArgs& args, const DeltaSequence& sequence, Expected& expected)
      : p_(problem), args_(args), s_(sequence), expected_(expected) {
    history_.assign(static_cast<size_t>(p_.history_floats()), 0.0);
    state_.assign(static_cast<size_t>(p_.state_floats() - p_.history_floats()), 0.0);
    if (s_.state_in != nullptr) {
      history_.assign(s_.state_in, s_.state_in + p_.history_floats());
      state_.assign(s_.state_in + p_.history_floats(), s_.state_in + p_.state_floats());
    }
    error_.assign(static_cast<size_t>(p_.value_heads * p_.value_dim), 0.0);
    for (int64_t index = 0; index < s_.row_count; ++index) step(index);
  }

 private:
  // A conv output's FP32 error against its magnitude: 4 products, silu.
  static constexpr double kFront = 32 * kUnitF32;

  double convolve(int64_t row, int64_t c, double* magnitude) {
    double sum = 0;
    for (int64_t j = 0; j < p_.conv_width; ++j) {
      const int64_t at = row - (p_.conv_width - 1) + j;
      const double x = at >= 0
                           ? args_.qkv[(s_.row_begin + at) * p_.channels() + c]
                           : history_[static_cast<size_t>(c * (p_.conv_width - 1) + p_.conv_width - 1 + at)];
      const double product = x * args_.conv_weight[c * p_.conv_width + j];
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
          1 / (1 + std::exp(-static_cast<double>(args_.b[(s_.row_begin + row) * p_.value_heads + h])));
      const double pre =
          static_cast<double>(args_.a[(s_.row_begin + row) * p_.value_heads + h]) + args_.dt_bias[h];
      const double g = -std::exp(static_cast<double>(args_.a_log[h])) * std::log1p(std::exp(pre));
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
      const double z =
          args_.z[static_cast<size_t>(((s_.row_begin + row) * p_.value_heads + h) * p_.value_dim) + j];
      const double gate = args_.norm_weight[j] * z / (1 + std::exp(-z));
      const double value = o[j] * r * gate;
      const double through_r = std::fabs(o[j]) * r * r * std::sqrt(error / n);
      expected_.add(value, std::fabs(gate) * r * (o_error[j] + through_r) +
                               16 * kUnitF32 * std::fabs(value) * std::sqrt(n));
    }
  }

  const DeltaProblem& p_;
  const DeltaArgs& args_;
  const DeltaSequence& s_;
  Expected& expected_;
  std::vector<double> history_, state_, error_;
};

}  // namespace

Expected expect_delta(const DeltaProblem& problem, const DeltaArgs& args) {
  Expected expected;
  for (const DeltaSequence& sequence : args.sequences) Walk(problem, args, sequence, expected);
  return expected;
}

}  // namespace assay::kernels
