#pragma once
// What every runner of every kernel family has in common.
#include <cstdint>
#include <string_view>

#include "base/threads.h"
#include "kernels/plan/verdict.h"

namespace assay::kernels {

enum class Determinism : uint8_t {
  none,
  run_to_run,     // the same call gives the same bits
  row_invariant,  // row i of any batch, chunk split and page layout is bitwise the result of that row alone
};

// What a CPU runner runs on.
struct CpuContext {
  ThreadPool& pool;
  std::byte* scratch;  // scratch_bytes(problem) bytes, aligned to kAlignment
};

// Stateless: one object serves all problems and threads.
class RunnerBase {
 public:
  virtual ~RunnerBase() = default;
  virtual std::string_view name() const = 0;
  virtual Determinism determinism() const = 0;
};

}  // namespace assay::kernels
