#pragma once
// Timing: the proven runners of one problem against each other, in interleaved rounds on data that is not in
// the cache.
#include <string>
#include <vector>

#include "kernels/prove/prover.h"

namespace assay::kernels {

struct Timing {
  std::string runner;
  int64_t rows = 0;
  double microseconds = 0;  // median over the rounds
  double spread = 0;        // half the distance of the quartiles, microseconds
  int64_t bytes = 0;        // that must move at least
};

// One entry per runner and row count. Every round runs all runners once, each on the next of its copies of
// the data.
Result<std::vector<Timing>> time_runners(const std::string& problem, const std::vector<std::string>& runners,
                                         const std::vector<int64_t>& rows, int threads, uint64_t seed);

// Bytes per second that all `threads` together read from a buffer larger than the caches.
double measure_read_bandwidth(int threads);

}  // namespace assay::kernels
