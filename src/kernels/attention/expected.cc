#include "kernels/attention/expected.h"

#include <algorithm>

namespace assay::kernels {
namespace {

// Keys or values of one position: a row of this call, or a place in the cache.
const float* at_position(const AttentionProblem& p, const AttentionArgs& args, const AttentionSequence& s,
                         const float* fresh, const float* cache, int64_t position, int64_t kv_head) {
  if (position >= s.position) {
    return fresh + ((s.row_begin + position - s.position) * p.kv_heads + kv_head) * p.head_dim;
  }
  const int64_t page = s.pages[static_cast<size_t>(position / p.page_size)];
  return cache + page * args.cache.page_stride + (position % p.page_size * p.kv_heads + kv_head) * p.head_dim;
}

// A score error of d changes each softmax weight by a factor of at most e^(2d).
void expect_head(const AttentionProblem& p, const AttentionArgs& args, const AttentionSequence& s,
                 int64_t index, int64_t head, Expected& expected) {
  const int64_t kv_head = head / (p.heads / p.kv_heads), last = s.position + index;
  const float* q = args.q + (s.row_begin + index) * args.q_row_stride + head * args.q_head_stride;
  std::vector<double> weight;
  double worst = 0, total = 0;
  for (int64_t t = 0; t <= last; ++t) {
    const float* k = at_position(p, args, s, args.k, args.cache.keys, t, kv_head);
    double score = 0, magnitudes = 0;
    for (int64_t d = 0; d < p.head_dim; ++d) {
      score += static_cast<double>(q[d]) * k[d];
      magnitudes += std::fabs(static_cast<double>(q[d]) * k[d]);
    }
    weight.push_back(score * p.scale);
    worst = std::max(
        worst, p.scale * sum_error(p.head_dim, magnitudes, score) + 2 * kUnitF32 * std::fabs(weight.back()));
  }
  const double top = *std::max_element(weight.begin(), weight.end());
  for (double& w : weight) total += w = std::exp(w - top);
  for (int64_t d = 0; d < p.head_dim; ++d) {
    double sum = 0, magnitudes = 0;
    for (int64_t t = 0; t <= last; ++t) {
      const float* v = at_position(p, args, s, args.v, args.cache.values, t, kv_head);
      const double term = weight[static_cast<size_t>(t)] / total * v[d];
      sum += term;
      magnitudes += std::fabs(term);
    }
    expected.add(
        sum, (std::expm1(2 * worst) + 8 * kUnitF32) * magnitudes + 2 * sum_error(last + 1, magnitudes, sum));
  }
}

}  // namespace

Expected expect_attention(const AttentionProblem& problem, const AttentionArgs& args) {
  Expected expected;
  for (const AttentionSequence& s : args.sequences) {
    for (int64_t i = 0; i < s.row_count; ++i) {
      for (int64_t h = 0; h < problem.heads; ++h) expect_head(problem, args, s, i, h, expected);
    }
  }
  return expected;
}

}  // namespace assay::kernels
