// The plain delta rule: one (sequence, value head) per task, token by token. Recurrent for prefill too, so
// that no split of a prompt changes a bit.
#include "kernels/delta/cpu_plain.h"

#include <cmath>
#include <cstring>

#include "kernels/cpu/clones.h"
#include "kernels/cpu/rows.h"
#include "kernels/delta/cpu_front.h"
#include "kernels/plan/reasons.h"

namespace assay::kernels {
namespace {

// One token of one head: S [value_dim][key_dim] in place, o [value_dim].
ASSAY_CLONES void delta_step(float* state, const float* q, const float* k, const float* v, float decay,
                             float beta, int64_t key_dim, int64_t value_dim, float* o) {
  for (int64_t j = 0; j < value_dim; ++j) {
    float* s = state + j * key_dim;
    for (int64_t i = 0; i < key_dim; ++i) s[i] *= decay;
    const float d = beta * (v[j] - cpu::dot(s, k, key_dim));
    for (int64_t i = 0; i < key_dim; ++i) s[i] += k[i] * d;
    o[j] = cpu::dot(s, q, key_dim);
  }
}

class CpuPlain final : public DeltaRunner {
 public:
  std::string_view name() const override { return "cpu_plain"; }
  Determinism determinism() const override { return Determinism::row_invariant; }

  Verdict accepts(const DeltaProblem& problem) const override {
    if (problem.precision == PrecisionClass::w4a16)
      return reasons::precision_not_computed(problem.precision, "w4a32");
    if (problem.conv_width > 16) return reasons::above_limit("conv width", problem.conv_width, 16);
    return Verdict::yes();
  }

  size_t scratch_bytes(const DeltaProblem& problem, int64_t max_rows, int) const override {
    return cpu::delta_front_bytes(problem, max_rows);
  }

  void run(const DeltaProblem& problem, const DeltaArgs& args, const CpuContext& cpu) const override {
    const cpu::DeltaFront front = cpu::delta_front(problem, args, cpu);
    const int64_t heads = problem.value_heads;
    cpu.pool.parallel_items(static_cast<int64_t>(args.sequences.size()) * heads, [&](int64_t item, int) {
      walk(problem, args, front, args.sequences[static_cast<size_t>(item / heads)], item % heads);
    });
    for (const DeltaSequence& s : args.sequences) cpu::store_history(problem, args, s);
  }

 private:
  static void walk(const DeltaProblem& p, const DeltaArgs& args, const cpu::DeltaFront& front,
                   const DeltaSequence& s, int64_t head) {
    const int64_t size = p.value_dim * p.key_dim, at = p.history_floats() + head * size;
    const size_t bytes = static_cast<size_t>(size) * sizeof(float);
    float* state = cpu::begin_state(p, s, head);
    const int64_t key_head = head / (p.value_heads / p.key_heads);
    for (int64_t i = 0; i < s.row_count; ++i) {
      const int64_t row = s.row_begin + i;
      const float* u = front.u + row * p.channels();
      float* o = args.out + (row * p.value_heads + head) * p.value_dim;
      delta_step(state, u + key_head * p.key_dim, u + (p.key_heads + key_head) * p.key_dim,
                 u + 2 * p.key_heads * p.key_dim + head * p.value_dim,
                 std::exp(front.decay[row * p.value_heads + head]), front.beta[row * p.value_heads + head],
                 p.key_dim, p.value_dim, o);
      cpu::gated_norm(p, args, row, head, o);
      float* keep = s.state_out[static_cast<size_t>(i)];
      if (keep != nullptr && i + 1 < s.row_count) std::memcpy(keep + at, state, bytes);
    }
  }
};

}  // namespace

const DeltaRunner* delta_cpu_plain() {
  static const CpuPlain runner;
  return &runner;
}

}  // namespace assay::kernels
