#pragma once
// AttentionRunner: stores a step's new keys and values, then lets every new row look back.
#include <span>

#include "kernels/attention/problem.h"
#include "kernels/plan/runner.h"

namespace assay::kernels {

// One layer's cache. Element d of kv head g of token slot s of page p:
//   keys[p * page_stride + (s * kv_heads + g) * head_dim + d]; values alike.
struct PagedKv {
  float* keys = nullptr;
  float* values = nullptr;
  int64_t page_stride = 0;  // floats
};

// Rows [row_begin, row_begin + row_count) of the step hold positions position, position + 1, ... of one
// sequence.
struct AttentionSequence {
  int64_t row_begin = 0;
  int64_t row_count = 0;
  int64_t position = 0;
  std::span<const int32_t> pages;  // page of position x: pages[x / page_size]
};

struct AttentionArgs {
  const float* q = nullptr;  // head h of row r at r * q_row_stride + h * q_head_stride
  int64_t q_row_stride = 0;
  int64_t q_head_stride = 0;
  const float* k = nullptr;  // [rows, kv_heads * head_dim] dense, as v
  const float* v = nullptr;
  std::span<const AttentionSequence> sequences;
  PagedKv cache;
  float* out = nullptr;  // [rows, heads * head_dim] dense
};

class AttentionRunner : public RunnerBase {
 public:
  virtual Verdict accepts(const AttentionProblem& problem) const = 0;
  virtual size_t scratch_bytes(const AttentionProblem& problem, int64_t max_context, int threads) const = 0;
  virtual void run(const AttentionProblem& problem, const AttentionArgs& args,
                   const CpuContext& cpu) const = 0;
};

std::span<const AttentionRunner* const> attention_runners();

}  // namespace assay::kernels
