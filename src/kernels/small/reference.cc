// What the small operations mean, in fp64.
#include "kernels/small/reference.h"

#include <cmath>

#include "kernels/plan/reference_numeric.h"

namespace assay::kernels {
namespace {

// values *= weight / rms(values)
void normalise(std::span<double> values, const float* weight, double eps) {
  double squares = 0;
  for (double v : values) squares += v * v;
  const double scale = 1.0 / std::sqrt(squares / static_cast<double>(values.size()) + eps);
  for (size_t i = 0; i < values.size(); ++i) values[i] *= scale * weight[i];
}

class Reference final : public SmallRunner {
 public:
  std::string_view name() const override { return "reference"; }
  Determinism determinism() const override { return Determinism::row_invariant; }
  Verdict accepts(const SmallProblem&) const override { return Verdict::yes(); }

  void add_norm(const SmallProblem& problem, const AddNormArgs& args, const CpuContext&) const override {
    for (int64_t r = 0; r < args.rows; ++r) {
      float* residual = args.residual + r * problem.hidden;
      std::vector<double> values;
      for (int64_t i = 0; i < problem.hidden; ++i) {
        if (args.delta != nullptr) {
          const double sum = static_cast<double>(residual[i]) + args.delta[r * problem.hidden + i];
          residual[i] = reference::round_result(sum, problem.precision);
        }
        values.push_back(residual[i]);
      }
      normalise(values, args.weight, args.eps);
      for (int64_t i = 0; i < problem.hidden; ++i) {
        args.out[r * problem.hidden + i] =
            reference::round_result(values[static_cast<size_t>(i)], problem.precision);
      }
    }
  }

  void norm_rope(const SmallProblem& problem, const NormRopeArgs& args, const CpuContext&) const override {
    const int64_t half = args.rotary_dim / 2;
    for (int64_t r = 0; r < args.rows; ++r) {
      for (int64_t h = 0; h < args.heads; ++h) {
        float* head = args.x + r * args.row_stride + h * args.head_stride;
        std::vector<double> values(head, head + args.head_dim);
        if (args.norm_weight != nullptr) normalise(values, args.norm_weight, args.eps);
        for (int64_t i = 0; i < half; ++i) {
          const double angle = args.positions[static_cast<size_t>(r)] * args.inverse_frequency[i];
          double& a = values[static_cast<size_t>(i)];
          double& b = values[static_cast<size_t>(i + half)];
          const double turned = a * std::cos(angle) - b * std::sin(angle);
          b = b * std::cos(angle) + a * std::sin(angle);
          a = turned;
        }
        for (int64_t i = 0; i < args.head_dim; ++i) {
          head[i] = reference::round_result(values[static_cast<size_t>(i)], problem.precision);
        }
      }
    }
  }

  void sigmoid_gate(const SmallProblem& problem, const GateArgs& args, const CpuContext&) const override {
    for (int64_t r = 0; r < args.rows; ++r) {
      for (int64_t h = 0; h < args.heads; ++h) {
        const float* gate = args.gate + r * args.gate_row_stride + h * args.gate_head_stride;
        float* x = args.x + (r * args.heads + h) * args.head_dim;
        for (int64_t i = 0; i < args.head_dim; ++i) {
          x[i] = reference::round_result(x[i] * reference::sigmoid(gate[i]), problem.precision);
        }
      }
    }
  }
};

}  // namespace

const SmallRunner* small_reference() {
  static const Reference runner;
  return &runner;
}

}  // namespace assay::kernels
