// The plain small operations: rows split over threads, sums in one fixed order.
#include <cmath>

#include "kernels/cpu/rows.h"
#include "kernels/plan/reasons.h"
#include "kernels/small/cpu_plain.h"

namespace assay::kernels {
namespace {

constexpr int64_t kRowsPerThread = 4;  // fewer rows are done by one thread: waking another costs more

float inverse_rms(const float* x, int64_t n, float eps) {
  return 1.0f / std::sqrt(cpu::dot(x, x, n) / static_cast<float>(n) + eps);
}

class CpuPlain final : public SmallRunner {
 public:
  std::string_view name() const override { return "cpu_plain"; }
  Determinism determinism() const override { return Determinism::row_invariant; }

  Verdict accepts(const SmallProblem& problem) const override {
    if (problem.precision == PrecisionClass::w4a16)
      return reasons::precision_not_computed(problem.precision, "w4a32");
    return Verdict::yes();
  }

  void add_norm(const SmallProblem& problem, const AddNormArgs& args, const CpuContext& cpu) const override {
    const int64_t n = problem.hidden;
    cpu.pool.parallel_for(args.rows, kRowsPerThread, [&](int64_t begin, int64_t end, int) {
      for (int64_t r = begin; r < end; ++r) {
        float* residual = args.residual + r * n;
        if (args.delta != nullptr) cpu::add_scaled(1.0f, args.delta + r * n, residual, n);
        const float scale = inverse_rms(residual, n, args.eps);
        for (int64_t i = 0; i < n; ++i) args.out[r * n + i] = residual[i] * scale * args.weight[i];
      }
    });
  }

  void norm_rope(const SmallProblem&, const NormRopeArgs& args, const CpuContext& cpu) const override {
    cpu.pool.parallel_for(args.rows, kRowsPerThread, [&](int64_t begin, int64_t end, int) {
      std::vector<float> turn(static_cast<size_t>(args.rotary_dim));  // cos, sin per pair
      for (int64_t r = begin; r < end; ++r) {
        for (int64_t i = 0; i < args.rotary_dim / 2; ++i) {
          const double angle = args.positions[static_cast<size_t>(r)] * args.inverse_frequency[i];
          turn[static_cast<size_t>(2 * i)] = static_cast<float>(std::cos(angle));
          turn[static_cast<size_t>(2 * i + 1)] = static_cast<float>(std::sin(angle));
        }
        for (int64_t h = 0; h < args.heads; ++h) {
          norm_and_turn(args, args.x + r * args.row_stride + h * args.head_stride, turn.data());
        }
      }
    });
  }

  void sigmoid_gate(const SmallProblem&, const GateArgs& args, const CpuContext& cpu) const override {
    cpu.pool.parallel_for(args.rows, kRowsPerThread, [&](int64_t begin, int64_t end, int) {
      for (int64_t r = begin; r < end; ++r) {
        for (int64_t h = 0; h < args.heads; ++h) {
          const float* gate = args.gate + r * args.gate_row_stride + h * args.gate_head_stride;
          float* x = args.x + (r * args.heads + h) * args.head_dim;
          for (int64_t i = 0; i < args.head_dim; ++i) x[i] *= cpu::sigmoid(gate[i]);
        }
      }
    });
  }

 private:
  static void norm_and_turn(const NormRopeArgs& args, float* head, const float* turn) {
    if (args.norm_weight != nullptr) {
      const float scale = inverse_rms(head, args.head_dim, args.eps);
      for (int64_t i = 0; i < args.head_dim; ++i) head[i] *= scale * args.norm_weight[i];
    }
    const int64_t half = args.rotary_dim / 2;
    for (int64_t i = 0; i < half; ++i) {
      const float a = head[i], b = head[i + half], cosine = turn[2 * i], sine = turn[2 * i + 1];
      head[i] = a * cosine - b * sine;
      head[i + half] = b * cosine + a * sine;
    }
  }
};

}  // namespace

const SmallRunner* small_cpu_plain() {
  static const CpuPlain runner;
  return &runner;
}

}  // namespace assay::kernels
