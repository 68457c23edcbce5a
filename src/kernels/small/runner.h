#pragma once
// SmallRunner: one object does all small operations, so that a model's rounding points agree.
#include <span>

#include "kernels/plan/runner.h"
#include "kernels/small/problem.h"

namespace assay::kernels {

// residual += delta (when given); out = rms_norm(residual) * weight, with rms over `hidden` and `eps` under
// the root. All [rows, hidden] float, dense. weight [hidden] already holds the family's "1 +".
struct AddNormArgs {
  int64_t rows = 0;
  float* residual = nullptr;
  const float* delta = nullptr;  // may be null
  const float* weight = nullptr;
  float eps = 1e-6f;
  float* out = nullptr;
};

// Per head: optional rms_norm over head_dim, then rotary embedding of the first `rotary_dim` values in
// half-split pairs (i, i + rotary_dim / 2). In place. x: [rows, heads * head_stride] with row stride
// `row_stride`; head h starts at h * head_stride (a gate may lie between heads).
struct NormRopeArgs {
  int64_t rows = 0;
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t head_stride = 0;
  int64_t row_stride = 0;
  float* x = nullptr;
  const float* norm_weight = nullptr;  // [head_dim], or null: no norm
  float eps = 1e-6f;
  int64_t rotary_dim = 0;
  const double* inverse_frequency = nullptr;  // [rotary_dim / 2]
  std::span<const int32_t> positions;         // [rows]
};

// x *= sigmoid(gate), head by head: attention's output gate. x: [rows, heads * head_dim] dense.
struct GateArgs {
  int64_t rows = 0;
  int64_t heads = 0;
  int64_t head_dim = 0;
  float* x = nullptr;
  const float* gate = nullptr;  // head h of row r starts at r * gate_row_stride + h * gate_head_stride
  int64_t gate_head_stride = 0;
  int64_t gate_row_stride = 0;
};

class SmallRunner : public RunnerBase {
 public:
  virtual Verdict accepts(const SmallProblem& problem) const = 0;
  virtual void add_norm(const SmallProblem& problem, const AddNormArgs& args,
                        const CpuContext& cpu) const = 0;
  virtual void norm_rope(const SmallProblem& problem, const NormRopeArgs& args,
                         const CpuContext& cpu) const = 0;
  virtual void sigmoid_gate(const SmallProblem& problem, const GateArgs& args,
                            const CpuContext& cpu) const = 0;
};

std::span<const SmallRunner* const> small_runners();

}  // namespace assay::kernels
