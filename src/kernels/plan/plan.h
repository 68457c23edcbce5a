#pragma once
// Plan: the runner that serves one problem, and what the others said. One template for every family.
#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/plan/runner.h"

namespace assay::kernels {

struct Refusal {
  std::string runner;
  std::string reason;
};

template <class Runner, class Problem>
struct Plan {
  const Runner* runner = nullptr;
  Problem problem;
  std::vector<Refusal> refusals;
};

// The first of `candidates` (best first, reference last) that accepts the problem. `wanted` = "auto", or the
// name of the only candidate allowed: an explicit choice is obeyed or refused, never swapped.
template <class Runner, class Problem>
Result<Plan<Runner, Problem>> choose(std::span<const Runner* const> candidates, const Problem& problem,
                                     std::string_view wanted = "auto") {
  Plan<Runner, Problem> plan{.problem = problem};
  std::string names;
  for (const Runner* candidate : candidates) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", candidate->name());
    if (wanted != "auto" && wanted != candidate->name()) continue;
    const Verdict verdict = candidate->accepts(problem);
    if (verdict) {
      plan.runner = candidate;
      return plan;
    }
    plan.refusals.push_back({std::string(candidate->name()), verdict.reason()});
  }
  if (plan.refusals.empty())
    return Error{fmt::format("no runner is called {}; there are: {}", wanted, names)};
  std::string table = fmt::format("no runner takes {}:", to_string(problem));
  for (const Refusal& r : plan.refusals) table += fmt::format("\n  {}: {}", r.runner, r.reason);
  return Error{table};
}

}  // namespace assay::kernels
