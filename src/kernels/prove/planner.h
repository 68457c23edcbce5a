#pragma once
// Planner: proves and times what a book lacks, and chooses.
#include <functional>

#include "kernels/prove/plan_book.h"
#include "kernels/prove/worker.h"

namespace assay::kernels {

struct PlannerOptions {
  int threads = 2;
  uint64_t seed = 1;
  WorkerLimits limits;
  bool timings = true;
  std::function<WorkerResult(const ProofTask&, const WorkerLimits&)> prove = prove_in_child;
};

// Device, build and runner list that a problem's entry depends on, now.
Signature current_signature(const FamilyProver& prover, int threads);

// A fresh entry for one problem: every candidate refused, failed or proven, the proven ones timed, one
// chosen. A later candidate must be faster by more than the spread; the reference is chosen only when it
// alone is proven.
Result<BookEntry> plan_problem(const std::string& problem, const PlannerOptions& options);

}  // namespace assay::kernels
