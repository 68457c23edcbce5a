#pragma once
// Executor: runs steps in order, asynchronously. At most kDepth steps are submitted and not yet collected.
#include "engine/step.h"

namespace assay::engine {

class Executor {
 public:
  static constexpr int kDepth = 2;
  virtual ~Executor() = default;
  virtual void submit(Step step) = 0;
  // Blocks until the oldest submitted step is done. Steps come back in order.
  virtual StepResult collect() = 0;
  // The request will not appear in later steps: forget what is kept for it.
  virtual void release(RequestId id) = 0;
};

}  // namespace assay::engine
