#include "kernels/small/expected.h"

namespace assay::kernels {

Expected expect_add_norm(const SmallProblem& problem, const AddNormArgs& args) {
  Expected expected;
  const int64_t n = problem.hidden;
  for (int64_t r = 0; r < args.rows; ++r) {
    const auto delta = [&](int64_t i) { return args.delta == nullptr ? 0.0 : args.delta[r * n + i]; };
    double squares = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double sum = args.residual[r * n + i] + delta(i);
      squares += sum * sum;
    }
    const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + args.eps);
    for (int64_t i = 0; i < n; ++i) {
      const double factor = scale * args.weight[i];
      const double value = (args.residual[r * n + i] + delta(i)) * factor;
      const double magnitude =
          (std::fabs(args.residual[r * n + i]) + std::fabs(delta(i))) * std::fabs(factor);
      expected.add(value, sum_error(n, magnitude, value) + 6 * kUnitF32 * magnitude);
    }
  }
  return expected;
}

Expected expect_norm_rope(const NormRopeArgs& args) {
  Expected expected;
  const auto half = static_cast<size_t>(args.rotary_dim / 2);
  for (int64_t r = 0; r < args.rows; ++r) {
    for (int64_t h = 0; h < args.heads; ++h) {
      const float* x = args.x + r * args.row_stride + h * args.head_stride;
      std::vector<double> y(x, x + args.head_dim);
      if (args.norm_weight != nullptr) {
        double squares = 0;
        for (double v : y) squares += v * v;
        const double scale = 1 / std::sqrt(squares / static_cast<double>(args.head_dim) + args.eps);
        for (size_t i = 0; i < y.size(); ++i) y[i] *= scale * args.norm_weight[i];
      }
      for (size_t i = 0; i < y.size(); ++i) {
        double value = y[i], magnitude = std::fabs(y[i]);
        if (i < 2 * half) {
          const size_t pair = i < half ? i + half : i - half;
          const double angle = args.positions[static_cast<size_t>(r)] * args.inverse_frequency[i % half];
          value = y[i] * std::cos(angle) + (i < half ? -1 : 1) * y[pair] * std::sin(angle);
          magnitude += std::fabs(y[pair]);
        }
        expected.add(value, sum_error(args.head_dim, magnitude, value) + 6 * kUnitF32 * magnitude);
      }
    }
  }
  return expected;
}

Expected expect_gate(const GateArgs& args) {
  Expected expected;
  for (int64_t r = 0; r < args.rows; ++r) {
    for (int64_t h = 0; h < args.heads; ++h) {
      const float* gate = args.gate + r * args.gate_row_stride + h * args.gate_head_stride;
      const float* x = args.x + (r * args.heads + h) * args.head_dim;
      for (int64_t i = 0; i < args.head_dim; ++i) {
        expected.add(x[i] / (1 + std::exp(-static_cast<double>(gate[i]))), 8 * kUnitF32 * std::fabs(x[i]));
      }
    }
  }
  return expected;
}

}  // namespace assay::kernels
