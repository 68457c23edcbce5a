#pragma once
// MemoryPlan: where this process's memory will go, before any of it is taken.
#include <cstdint>
#include <string>

#include "base/result.h"
#include "cache/layout.h"
#include "engine/load.h"

namespace assay::engine {

struct MemoryPlan {
  int64_t available_bytes = 0;  // of the machine or cgroup, now
  int64_t weight_bytes = 0;
  int64_t page_bytes = 0, pages = 0;
  int64_t state_bytes = 0, state_slots = 0;
  int64_t kv_bytes() const { return page_bytes * pages; }
  int64_t all_state_bytes() const { return state_bytes * state_slots; }
  std::string text() const;  // one line
};

int64_t available_memory();  // bytes: the smaller of MemAvailable and what the cgroup has left

// Pages for max_running_requests full contexts if they fit, else as many as fit, but at least one full
// context: else refused with the numbers and what would fit. An explicit max_total_tokens is obeyed or
// refused.
Result<MemoryPlan> plan_memory(const EngineOptions& options, int64_t context, int64_t weight_bytes,
                               const cache::CacheLayout& layout, int64_t available_bytes);

}  // namespace assay::engine
