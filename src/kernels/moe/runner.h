#pragma once
// MoeRunner: the interface of every way to run the expert block.
#include <span>
#include <vector>

#include "base/arena.h"
#include "kernels/moe/problem.h"
#include "kernels/moe/routing.h"
#include "kernels/plan/runner.h"

namespace assay::kernels {

struct ExpertWeights {
  QuantView gate;  // [intermediate, hidden]
  QuantView up;    // [intermediate, hidden]
  QuantView down;  // [hidden, intermediate]
};

struct MoeWeights {
  std::vector<ExpertWeights> experts;
  ExpertWeights shared;            // unused where shared_intermediate is 0
  std::vector<float> shared_gate;  // [hidden] where the problem has one
};

struct MoeArgs {
  const MoeWeights* weights = nullptr;
  const Routing* routing = nullptr;  // routing->tokens rows
  const float* x = nullptr;          // [tokens, hidden] dense
  float* out = nullptr;              // [tokens, hidden] dense
};

class MoeRunner : public RunnerBase {
 public:
  virtual Verdict accepts(const MoeProblem& problem) const = 0;
  // Copies the weights into this runner's layout. Called once, at load.
  virtual MoeWeights pack(const MoeWeights& weights, Arena& arena) const = 0;
  virtual size_t scratch_bytes(const MoeProblem& problem, int64_t max_rows, int threads) const = 0;
  virtual void run(const MoeProblem& problem, const MoeArgs& args, const CpuContext& cpu) const = 0;
};

std::span<const MoeRunner* const> moe_runners();

// The routed experts' rows must hold whole blocks of their format.
Verdict check_shapes(const MoeProblem& problem);

// Every matrix copied as stored: the layout of the plain and the reference runners.
MoeWeights pack_experts_as_stored(const MoeWeights& weights, Arena& arena);

}  // namespace assay::kernels
