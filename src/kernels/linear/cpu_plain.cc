// The plain CPU linear: each thread owns output rows; a stored row is decoded once and used for every input
// row.
#include "kernels/linear/cpu_plain.h"

#include "kernels/cpu/rows.h"
#include "kernels/plan/checkpoint_layout.h"
#include "kernels/plan/reasons.h"

namespace assay::kernels {
namespace {

class CpuPlain final : public LinearRunner {
 public:
  std::string_view name() const override { return "cpu_plain"; }
  Determinism determinism() const override { return Determinism::row_invariant; }

  Verdict accepts(const LinearProblem& problem) const override {
    if (problem.precision != PrecisionClass::w4a32)
      return reasons::precision_not_computed(problem.precision, "w4a32");
    return reasons::whole_blocks(problem.format, "K", problem.inputs);
  }

  QuantView pack(const QuantView& weight, Arena& arena) const override {
    return pack_as_stored(weight, arena);
  }

  size_t scratch_bytes(const LinearProblem& problem, int64_t, int threads) const override {
    return static_cast<size_t>(threads) * row_stride(problem) * sizeof(float);
  }

  void run(const LinearProblem& problem, const LinearArgs& args, const CpuContext& cpu) const override {
    int64_t outputs = 0;
    for (const LinearPart& part : args.parts) outputs += part.weight->rows;
    // Fewer than ~32K multiplications per thread are not worth waking one up.
    const int64_t grain = std::max<int64_t>(1, 32768 / (problem.inputs * std::max<int64_t>(args.rows, 1)));
    cpu.pool.parallel_for(outputs, grain, [&](int64_t begin, int64_t end, int worker) {
      float* decoded =
          reinterpret_cast<float*>(cpu.scratch) + static_cast<size_t>(worker) * row_stride(problem);
      int64_t first = 0;  // index of the part's first row among all outputs
      for (const LinearPart& part : args.parts) {
        const int64_t from = std::max(begin, first), to = std::min(end, first + part.weight->rows);
        for (int64_t n = from; n < to; ++n) multiply_row(part, n - first, args, decoded);
        first += part.weight->rows;
      }
    });
  }

 private:
  static size_t row_stride(const LinearProblem& problem) {
    return static_cast<size_t>((problem.inputs + 15) / 16 * 16);
  }

  static void multiply_row(const LinearPart& part, int64_t n, const LinearArgs& args, float* decoded) {
    const QuantView& weight = *part.weight;
    cpu::decode_row(weight, n, decoded);
    const float factor = cpu::row_factor(weight, n);
    for (int64_t m = 0; m < args.rows; ++m) {
      part.y[m * part.y_stride + n] = factor * cpu::dot(decoded, args.x + m * args.x_stride, weight.cols);
    }
  }
};

}  // namespace

const LinearRunner* linear_cpu_plain() {
  static const CpuPlain runner;
  return &runner;
}

}  // namespace assay::kernels
