#pragma once
// DeltaRunner: a step's new rows through the recurrence.
#include <span>

#include "kernels/delta/problem.h"
#include "kernels/plan/runner.h"

namespace assay::kernels {

// Rows [row_begin, row_begin + row_count) of the step are consecutive tokens of one sequence.
struct DeltaSequence {
  int64_t row_begin = 0;
  int64_t row_count = 0;            // >= 1
  const float* state_in = nullptr;  // null: the sequence starts here (all zeros)
  // Per row: where to keep the state after it, or null. The last one is never null; it may equal state_in.
  std::span<float* const> state_out;
};

struct DeltaArgs {
  const float* qkv = nullptr;          // [rows, channels]: q heads | k heads | v heads
  const float* z = nullptr;            // [rows, value_heads * value_dim]
  const float* b = nullptr;            // [rows, value_heads]
  const float* a = nullptr;            // [rows, value_heads]
  const float* conv_weight = nullptr;  // [channels, conv_width], the last tap hits the current token
  const float* a_log = nullptr;        // [value_heads]
  const float* dt_bias = nullptr;      // [value_heads]
  const float* norm_weight = nullptr;  // [value_dim]
  int64_t rows = 0;
  std::span<const DeltaSequence> sequences;
  float* out = nullptr;  // [rows, value_heads * value_dim]
};

class DeltaRunner : public RunnerBase {
 public:
  virtual Verdict accepts(const DeltaProblem& problem) const = 0;
  virtual size_t scratch_bytes(const DeltaProblem& problem, int64_t max_rows, int threads) const = 0;
  virtual void run(const DeltaProblem& problem, const DeltaArgs& args, const CpuContext& cpu) const = 0;
};

std::span<const DeltaRunner* const> delta_runners();

}  // namespace assay::kernels
