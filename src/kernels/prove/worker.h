#pragma once
// The prove-worker: a process of its own that may crash, hang or eat memory. It proves one runner for one
// problem and tells its parent by lines on a pipe:
//   case NAME                         before every case
//   proven EXECUTIONS KINDS RATIO NAME
//   failed REASON
#include <chrono>
#include <string>

#include "kernels/prove/proof.h"

namespace assay::kernels {

struct ProofTask {
  std::string problem;
  std::string runner;
  uint64_t seed = 1;
  int threads = 2;
};

// Child side: body of the hidden subcommand; writes to descriptor `out`. Returns the exit code.
int run_prove_worker(const ProofTask& task, int out);

// Parent side. The child is this program again (/proc/self/exe prove-worker ...).
struct WorkerLimits {
  std::chrono::seconds wall{60};
  int64_t resident_bytes = int64_t{8} << 30;
};
struct WorkerResult {
  Proof proof;
  double seconds = 0;
};
// A crash, hang, memory hunger or nonsense becomes the proof's failure, with the last case begun.
WorkerResult prove_in_child(const ProofTask& task, const WorkerLimits& limits);

// One line of a worker into the result; false when it is none of the above.
bool read_worker_line(const std::string& line, Proof& proof, std::string& last_case, bool& finished);

}  // namespace assay::kernels
