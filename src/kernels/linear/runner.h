#pragma once
// LinearRunner: the interface of every way to multiply by a stored matrix.
#include <span>

#include "base/arena.h"
#include "kernels/linear/problem.h"
#include "kernels/plan/runner.h"

namespace assay::kernels {

// One matrix of a call. y: float [rows of the call, weight.rows], row stride y_stride floats.
struct LinearPart {
  const QuantView* weight = nullptr;
  float* y = nullptr;
  int64_t y_stride = 0;
};

struct LinearArgs {
  int64_t rows = 0;          // M
  const float* x = nullptr;  // [M, K], row stride x_stride floats
  int64_t x_stride = 0;
  std::span<const LinearPart> parts;  // all with cols == K and the problem's format
};

class LinearRunner : public RunnerBase {
 public:
  virtual Verdict accepts(const LinearProblem& problem) const = 0;
  // Copies a matrix into this runner's layout. Called once, at load.
  virtual QuantView pack(const QuantView& weight, Arena& arena) const = 0;
  virtual size_t scratch_bytes(const LinearProblem& problem, int64_t max_rows, int threads) const = 0;
  virtual void run(const LinearProblem& problem, const LinearArgs& args, const CpuContext& cpu) const = 0;
};

// Best first, the reference last.
std::span<const LinearRunner* const> linear_runners();

}  // namespace assay::kernels
