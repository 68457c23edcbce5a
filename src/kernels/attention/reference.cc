// What attention means: softmax(q k^T * scale) v over all positions up to the row's own, in fp64.
#include "kernels/attention/reference.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/plan/reference_numeric.h"

namespace assay::kernels {
namespace {

class Reference final : public AttentionRunner {
 public:
  std::string_view name() const override { return "reference"; }
  Determinism determinism() const override { return Determinism::row_invariant; }
  Verdict accepts(const AttentionProblem&) const override { return Verdict::yes(); }
  size_t scratch_bytes(const AttentionProblem&, int64_t, int) const override { return 0; }

  void run(const AttentionProblem& problem, const AttentionArgs& args, const CpuContext&) const override {
    const int64_t kv_width = problem.kv_heads * problem.head_dim;
    for (const AttentionSequence& sequence : args.sequences) {
      for (int64_t i = 0; i < sequence.row_count; ++i) {
        const int64_t row = sequence.row_begin + i,
                      at = offset(problem, args, sequence, sequence.position + i, 0);
        std::copy_n(args.k + row * kv_width, kv_width, args.cache.keys + at);
        std::copy_n(args.v + row * kv_width, kv_width, args.cache.values + at);
      }
      for (int64_t i = 0; i < sequence.row_count; ++i) {
        for (int64_t head = 0; head < problem.heads; ++head) attend(problem, args, sequence, i, head);
      }
    }
  }

 private:
  static int64_t offset(const AttentionProblem& p, const AttentionArgs& args,
                        const AttentionSequence& sequence, int64_t position, int64_t kv_head) {
    const int64_t page = sequence.pages[static_cast<size_t>(position / p.page_size)];
    return page * args.cache.page_stride + (position % p.page_size * p.kv_heads + kv_head) * p.head_dim;
  }

  static void attend(const AttentionProblem& p, const AttentionArgs& args, const AttentionSequence& sequence,
                     int64_t index, int64_t head) {
    const int64_t row = sequence.row_begin + index, last = sequence.position + index;
    const int64_t kv_head = head / (p.heads / p.kv_heads);
    const float* q = args.q + row * args.q_row_stride + head * args.q_head_stride;
    std::vector<double> weights;
    for (int64_t position = 0; position <= last; ++position) {
      const float* k = args.cache.keys + offset(p, args, sequence, position, kv_head);
      double score = 0;
      for (int64_t d = 0; d < p.head_dim; ++d) score += static_cast<double>(q[d]) * k[d];
      weights.push_back(score * p.scale);
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    double total = 0;
    for (double& w : weights) total += w = std::exp(w - largest);
    std::vector<double> sum(static_cast<size_t>(p.head_dim), 0.0);
    for (int64_t position = 0; position <= last; ++position) {
      const float* v = args.cache.values + offset(p, args, sequence, position, kv_head);
      for (int64_t d = 0; d < p.head_dim; ++d) {
        sum[static_cast<size_t>(d)] += weights[static_cast<size_t>(position)] / total * v[d];
      }
    }
    float* out = args.out + (row * p.heads + head) * p.head_dim;
    for (int64_t d = 0; d < p.head_dim; ++d)
      out[d] = reference::round_result(sum[static_cast<size_t>(d)], p.precision);
  }
};

}  // namespace

const AttentionRunner* attention_reference() {
  static const Reference runner;
  return &runner;
}

}  // namespace assay::kernels
