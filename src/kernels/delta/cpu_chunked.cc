// The delta rule in chunks of up to 64 tokens: within a chunk the updates d_r come from a forward
// substitution, the state moves once per chunk. With G_r the summed log decay and S0 the incoming state:
//   d_r = beta_r (v_r - e^{G_r} S0^T k_r - sum_{s<r} e^{G_r-G_s} (k_r.k_s) d_s)
//   o_r = e^{G_r} S0^T q_r + sum_{s<=r} e^{G_r-G_s} (q_r.k_s) d_s
//   S1  = e^{G_C} S0 + sum_s e^{G_C-G_s} k_s d_s^T
// Every exponent is <= 0, so nothing overflows. Where a chunk begins changes the rounding: run_to_run, not
// row_invariant.
#include "kernels/delta/cpu_chunked.h"

#include <cmath>
#include <cstring>

#include "kernels/cpu/rows.h"
#include "kernels/delta/cpu_front.h"
#include "kernels/plan/reasons.h"

namespace assay::kernels {
namespace {

constexpr int64_t kChunk = 64;

// The rows [first, first + rows) of a step as one head of one chunk sees them.
struct Chunk {
  const DeltaProblem& p;
  const cpu::DeltaFront& front;
  int64_t head, first, rows;

  const float* u(int64_t r) const { return front.u + (first + r) * p.channels(); }
  int64_t key_head() const { return head / (p.value_heads / p.key_heads); }
  const float* q(int64_t r) const { return u(r) + key_head() * p.key_dim; }
  const float* k(int64_t r) const { return u(r) + (p.key_heads + key_head()) * p.key_dim; }
  const float* v(int64_t r) const { return u(r) + 2 * p.key_heads * p.key_dim + head * p.value_dim; }
  float beta(int64_t r) const { return front.beta[(first + r) * p.value_heads + head]; }
  float decay(int64_t r) const { return front.decay[(first + r) * p.value_heads + head]; }
};

// state [value_dim][key_dim] in place; o [rows][value_dim]; d: scratch [kChunk][value_dim].
void run_chunk(const Chunk& c, float* state, float* o, int64_t o_stride, float* d) {
  const int64_t dk = c.p.key_dim, dv = c.p.value_dim;
  float total[kChunk];  // G_r
  for (int64_t r = 0; r < c.rows; ++r) total[r] = (r > 0 ? total[r - 1] : 0.0f) + c.decay(r);
  for (int64_t r = 0; r < c.rows; ++r) {
    float *dr = d + r * dv, *out = o + r * o_stride;
    const float carried = std::exp(total[r]);
    for (int64_t j = 0; j < dv; ++j) {
      dr[j] = c.v(r)[j] - carried * cpu::dot(state + j * dk, c.k(r), dk);
      out[j] = carried * cpu::dot(state + j * dk, c.q(r), dk);
    }
    for (int64_t s = 0; s < r; ++s) {
      cpu::add_scaled(-std::exp(total[r] - total[s]) * cpu::dot(c.k(r), c.k(s), dk), d + s * dv, dr, dv);
    }
    for (int64_t j = 0; j < dv; ++j) dr[j] *= c.beta(r);
    for (int64_t s = 0; s <= r; ++s) {
      cpu::add_scaled(std::exp(total[r] - total[s]) * cpu::dot(c.q(r), c.k(s), dk), d + s * dv, out, dv);
    }
  }
  const float end = total[c.rows - 1], carried = std::exp(end);
  for (int64_t j = 0; j < dv; ++j) {
    float* s_row = state + j * dk;
    for (int64_t i = 0; i < dk; ++i) s_row[i] *= carried;
    for (int64_t s = 0; s < c.rows; ++s) {
      cpu::add_scaled(std::exp(end - total[s]) * d[s * dv + j], c.k(s), s_row, dk);
    }
  }
}

class CpuChunked final : public DeltaRunner {
 public:
  std::string_view name() const override { return "cpu_chunked"; }
  Determinism determinism() const override { return Determinism::run_to_run; }

  Verdict accepts(const DeltaProblem& problem) const override {
    if (problem.precision == PrecisionClass::w4a16)
      return reasons::precision_not_computed(problem.precision, "w4a32");
    if (problem.conv_width > 16) return reasons::above_limit("conv width", problem.conv_width, 16);
    return Verdict::yes();
  }

  size_t scratch_bytes(const DeltaProblem& problem, int64_t max_rows, int threads) const override {
    return cpu::delta_front_bytes(problem, max_rows) +
           static_cast<size_t>(threads * kChunk * problem.value_dim) * sizeof(float);
  }

  void run(const DeltaProblem& problem, const DeltaArgs& args, const CpuContext& cpu) const override {
    const cpu::DeltaFront front = cpu::delta_front(problem, args, cpu);
    float* updates = front.decay + args.rows * problem.value_heads;
    const int64_t heads = problem.value_heads;
    cpu.pool.parallel_items(static_cast<int64_t>(args.sequences.size()) * heads,
                            [&](int64_t item, int worker) {
                              walk(problem, args, front, args.sequences[static_cast<size_t>(item / heads)],
                                   item % heads, updates + worker * kChunk * problem.value_dim);
                            });
    for (const DeltaSequence& s : args.sequences) cpu::store_history(problem, args, s);
  }

 private:
  static void walk(const DeltaProblem& p, const DeltaArgs& args, const cpu::DeltaFront& front,
                   const DeltaSequence& s, int64_t head, float* updates) {
    const int64_t size = p.value_dim * p.key_dim, at = p.history_floats() + head * size;
    const size_t bytes = static_cast<size_t>(size) * sizeof(float);
    const int64_t o_stride = p.value_heads * p.value_dim;
    float* state = cpu::begin_state(p, s, head);
    for (int64_t begin = 0; begin < s.row_count;) {
      // A chunk also ends at a row whose state is kept.
      int64_t end = begin + 1;
      while (end < s.row_count && end - begin < kChunk &&
             s.state_out[static_cast<size_t>(end - 1)] == nullptr)
        ++end;
      const int64_t first = s.row_begin + begin;
      float* o = args.out + (first * p.value_heads + head) * p.value_dim;
      run_chunk({p, front, head, first, end - begin}, state, o, o_stride, updates);
      for (int64_t r = 0; r < end - begin; ++r) cpu::gated_norm(p, args, first + r, head, o + r * o_stride);
      float* keep = s.state_out[static_cast<size_t>(end - 1)];
      if (keep != nullptr && end < s.row_count) std::memcpy(keep + at, state, bytes);
      begin = end;
    }
  }
};

}  // namespace

const DeltaRunner* delta_cpu_chunked() {
  static const CpuChunked runner;
  return &runner;
}

}  // namespace assay::kernels
