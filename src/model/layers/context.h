#pragma once
// What every block of a forward pass works with.
#include <span>

#include "kernels/plan/runner.h"
#include "model/batch.h"
#include "model/observer.h"
#include "model/workspace.h"

namespace assay::model {

// The model's memory of sequences: one layer's part of a page or state is found by these offsets.
struct CacheMemory {
  LazyBuffer pages;          // [pages][layer][keys | values]
  LazyBuffer states;         // [slots][layer]
  int64_t page_floats = 0;   // of one page, all layers
  int64_t state_floats = 0;  // of one slot, all layers
};

struct PassContext {
  const Batch& batch;
  const kernels::CpuContext& cpu;
  CacheMemory& cache;
  Workspace& workspace;
  Observer* observer = nullptr;  // may be null
};

// Booking of one block at load: activations per row, and kernel scratch in bytes.
struct Booking {
  int64_t floats_per_row = 0;
  size_t scratch_bytes = 0;
};

}  // namespace assay::model
