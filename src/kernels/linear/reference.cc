// What a linear layer means: fp64 sums in written order over the checkpoint's own numbers.
#include "kernels/linear/reference.h"

#include "kernels/plan/checkpoint_layout.h"
#include "kernels/plan/reasons.h"
#include "kernels/plan/reference_numeric.h"

namespace assay::kernels {
namespace {

class Reference final : public LinearRunner {
 public:
  std::string_view name() const override { return "reference"; }
  Determinism determinism() const override { return Determinism::row_invariant; }
  Verdict accepts(const LinearProblem& p) const override {
    return reasons::whole_blocks(p.format, "K", p.inputs);
  }
  QuantView pack(const QuantView& weight, Arena& arena) const override {
    return pack_as_stored(weight, arena);
  }
  size_t scratch_bytes(const LinearProblem&, int64_t, int) const override { return 0; }

  void run(const LinearProblem& problem, const LinearArgs& args, const CpuContext& cpu) const override {
    const auto cols = static_cast<size_t>(problem.inputs);
    for (const LinearPart& part : args.parts) {
      std::vector<std::vector<float>> inputs;
      for (int64_t m = 0; m < args.rows; ++m) {
        inputs.push_back(
            reference::matrix_input({args.x + m * args.x_stride, cols}, *part.weight, problem.precision));
      }
      cpu.pool.parallel_for(part.weight->rows, 1, [&](int64_t begin, int64_t end, int) {
        for (int64_t n = begin; n < end; ++n) {
          const auto row = reference::weight_row(*part.weight, n);
          for (int64_t m = 0; m < args.rows; ++m) {
            const double y = reference::dot(row, inputs[static_cast<size_t>(m)]);
            part.y[m * part.y_stride + n] = reference::round_result(y, problem.precision);
          }
        }
      });
    }
  }
};

}  // namespace

const LinearRunner* linear_reference() {
  static const Reference runner;
  return &runner;
}

}  // namespace assay::kernels
