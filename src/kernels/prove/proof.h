#pragma once
// Proof: one runner against the definition of one problem, over every kind of value at every edge of the row
// buckets.
#include <functional>
#include <string>
#include <vector>

#include "kernels/prove/prover.h"

namespace assay::kernels {

// Plans are made per row bucket: 1, up to 8, up to 64, up to 512 rows.
inline constexpr int64_t kRowBuckets[] = {1, 8, 64, 512};
// The rows a proof runs: the edges of the buckets and one past each.
inline constexpr int64_t kProofRows[] = {1, 2, 7, 8, 9, 63, 64, 65};
inline constexpr int64_t kMinExecutions = 300;  // a fault in 1 of 50 runs is found with 1 - 0.98^300 = 99.8 %

struct Proof {
  int64_t executions = 0;
  int kinds = 0;           // of values
  double worst_ratio = 0;  // of error to bound
  std::string worst_case;
  std::string failure;  // empty: proven
  bool passed() const { return failure.empty(); }
};

// Runs all cases in this process: a runner that crashes takes the process with it (child.h isolates that).
// `begin_case` hears the name of each case before it runs.
Proof prove(OpenRunner& runner, uint64_t seed, int threads,
            const std::function<void(const std::string&)>& begin_case);

}  // namespace assay::kernels
