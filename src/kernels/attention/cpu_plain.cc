// Plain CPU attention: one (row, head) at a time; all scores first, then their softmax, then the weighted
// values, each sum in order of position, so that neither pages nor chunks can change a bit.
#include "kernels/attention/cpu_plain.h"

#include <cmath>
#include <cstring>

#include "kernels/cpu/rows.h"
#include "kernels/plan/reasons.h"

namespace assay::kernels {
namespace {

size_t score_stride(int64_t max_context) {
  return static_cast<size_t>((max_context + 15) / 16 * 16);
}

class CpuPlain final : public AttentionRunner {
 public:
  std::string_view name() const override { return "cpu_plain"; }
  Determinism determinism() const override { return Determinism::row_invariant; }

  Verdict accepts(const AttentionProblem& problem) const override {
    if (problem.precision == PrecisionClass::w4a16)
      return reasons::precision_not_computed(problem.precision, "w4a32");
    return Verdict::yes();
  }

  size_t scratch_bytes(const AttentionProblem&, int64_t max_context, int threads) const override {
    return static_cast<size_t>(threads) * score_stride(max_context) * sizeof(float);
  }

  void run(const AttentionProblem& problem, const AttentionArgs& args, const CpuContext& cpu) const override {
    int64_t rows = 0, longest = 0;
    for (const AttentionSequence& s : args.sequences) {
      store(problem, args, s);
      rows += s.row_count;
      longest = std::max(longest, s.position + s.row_count);
    }
    float* scratch = reinterpret_cast<float*>(cpu.scratch);
    cpu.pool.parallel_items(rows * problem.kv_heads, [&](int64_t item, int worker) {
      int64_t row = item / problem.kv_heads;
      for (const AttentionSequence& s : args.sequences) {
        if (row < s.row_count) {
          attend(problem, args, s, row, item % problem.kv_heads,
                 scratch + static_cast<size_t>(worker) * score_stride(longest));
          return;
        }
        row -= s.row_count;
      }
    });
  }

 private:
  static int64_t offset(const AttentionProblem& p, const AttentionArgs& args,
                        const AttentionSequence& sequence, int64_t position) {
    const int64_t page = sequence.pages[static_cast<size_t>(position / p.page_size)];
    return page * args.cache.page_stride + position % p.page_size * p.kv_heads * p.head_dim;
  }

  static void store(const AttentionProblem& p, const AttentionArgs& args, const AttentionSequence& sequence) {
    const int64_t width = p.kv_heads * p.head_dim;
    for (int64_t i = 0; i < sequence.row_count; ++i) {
      const int64_t at = offset(p, args, sequence, sequence.position + i), row = sequence.row_begin + i;
      std::memcpy(args.cache.keys + at, args.k + row * width, static_cast<size_t>(width) * sizeof(float));
      std::memcpy(args.cache.values + at, args.v + row * width, static_cast<size_t>(width) * sizeof(float));
    }
  }

  // All query heads of one kv head, so that its keys and values are read while they are warm.
  static void attend(const AttentionProblem& p, const AttentionArgs& args, const AttentionSequence& sequence,
                     int64_t index, int64_t kv_head, float* scores) {
    const int64_t group = p.heads / p.kv_heads, row = sequence.row_begin + index;
    const int64_t length = sequence.position + index + 1;
    for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
      const float* q = args.q + row * args.q_row_stride + head * args.q_head_stride;
      float largest = -INFINITY;
      for (int64_t t = 0; t < length; ++t) {
        const float* k = args.cache.keys + offset(p, args, sequence, t) + kv_head * p.head_dim;
        scores[t] = p.scale * cpu::dot(q, k, p.head_dim);
        largest = std::max(largest, scores[t]);
      }
      float total = 0;
      for (int64_t t = 0; t < length; ++t) total += scores[t] = std::exp(scores[t] - largest);
      float* out = args.out + (row * p.heads + head) * p.head_dim;
      std::fill_n(out, p.head_dim, 0.0f);
      for (int64_t t = 0; t < length; ++t) {
        const float* v = args.cache.values + offset(p, args, sequence, t) + kv_head * p.head_dim;
        cpu::add_scaled(scores[t] / total, v, out, p.head_dim);
      }
    }
  }
};

}  // namespace

const AttentionRunner* attention_cpu_plain() {
  static const CpuPlain runner;
  return &runner;
}

}  // namespace assay::kernels
