#include "engine/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace assay::engine {
namespace {

constexpr double kDefaultFraction = 0.8;  // of available memory, for weights + KV + state

double megabytes(int64_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

// The number in a file of the cgroup tree, or a very large one ("max", no such file).
int64_t cgroup_number(const char* path) {
  std::ifstream in(path);
  int64_t value = 0;
  return in >> value ? value : std::numeric_limits<int64_t>::max();
}

}  // namespace

std::string MemoryPlan::text() const {
  return fmt::format(
      "weights {:.1f} MB, KV {:.1f} MB ({} pages of {:.3f} MB), state {:.1f} MB ({} slots of {:.3f} MB), "
      "{:.0f} MB available",
      megabytes(weight_bytes), megabytes(kv_bytes()), pages, megabytes(page_bytes),
      megabytes(all_state_bytes()), state_slots, megabytes(state_bytes), megabytes(available_bytes));
}

int64_t available_memory() {
  int64_t available = std::numeric_limits<int64_t>::max();
  std::ifstream in("/proc/meminfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("MemAvailable:")) available = std::stoll(line.substr(13)) * 1024;
  }
  const int64_t limit = cgroup_number("/sys/fs/cgroup/memory.max");
  if (limit != std::numeric_limits<int64_t>::max()) {
    available = std::min(available, limit - cgroup_number("/sys/fs/cgroup/memory.current"));
  }
  return std::max<int64_t>(available, 0);
}

Result<MemoryPlan> plan_memory(const EngineOptions& options, int64_t context, int64_t weight_bytes,
                               const cache::CacheLayout& layout, int64_t available_bytes) {
  const auto pages_for = [&](int64_t tokens) { return (tokens + layout.page_size - 1) / layout.page_size; };
  MemoryPlan plan{.available_bytes = available_bytes,
                  .weight_bytes = weight_bytes,
                  .page_bytes = layout.page_bytes,
                  .state_bytes = layout.state_bytes,
                  .state_slots = options.max_running_requests};
  const double fraction = options.mem_fraction_static > 0 ? options.mem_fraction_static : kDefaultFraction;
  const auto budget = static_cast<int64_t>(fraction * static_cast<double>(available_bytes));
  const int64_t left = budget - weight_bytes - plan.all_state_bytes();
  const int64_t one_context = pages_for(context);
  const int64_t fit = layout.page_bytes > 0 ? std::max<int64_t>(left, 0) / layout.page_bytes : one_context;
  plan.pages = options.max_total_tokens > 0 ? pages_for(options.max_total_tokens)
                                            : std::min(fit, one_context * options.max_running_requests);
  if (plan.pages >= one_context && plan.pages <= fit) return plan;
  const int64_t tokens_that_fit = fit * layout.page_size;
  if (plan.pages > fit || tokens_that_fit < context) {
    return Error{
        fmt::format("not enough memory: {:.0f} MB available x {:.2f} (--mem-fraction-static) = {:.0f} MB; "
                    "weights need {:.0f} MB, "
                    "{} state slots {:.0f} MB, one context of {} tokens {:.0f} MB. What would fit: "
                    "--context-length {} or fewer "
                    "--max-running-requests",
                    megabytes(available_bytes), fraction, megabytes(budget), megabytes(weight_bytes),
                    plan.state_slots, megabytes(plan.all_state_bytes()), context,
                    megabytes(one_context * layout.page_bytes), tokens_that_fit)};
  }
  return Error{
      fmt::format("--max-total-tokens {} holds less than one context of {} tokens; raise it to {} or lower "
                  "--context-length",
                  options.max_total_tokens, context, context)};
}

}  // namespace assay::engine
