#pragma once
// Builder: what a block needs while it is built: options, the arena for packed weights, and the plans chosen
// so far.
#include <map>
#include <string>
#include <vector>

#include "base/arena.h"
#include "kernels/attention/runner.h"
#include "kernels/delta/runner.h"
#include "kernels/linear/runner.h"
#include "kernels/moe/runner.h"
#include "kernels/plan/plan.h"
#include "kernels/small/runner.h"
#include "model/options.h"
#include "model/spec.h"

namespace assay::model {

using LinearPlan = kernels::Plan<kernels::LinearRunner, kernels::LinearProblem>;
using MoePlan = kernels::Plan<kernels::MoeRunner, kernels::MoeProblem>;
using AttentionPlan = kernels::Plan<kernels::AttentionRunner, kernels::AttentionProblem>;
using DeltaPlan = kernels::Plan<kernels::DeltaRunner, kernels::DeltaProblem>;
using SmallPlan = kernels::Plan<kernels::SmallRunner, kernels::SmallProblem>;

struct PlanLine {
  std::string problem, runner;
  int layers = 0;
};

class Builder {
 public:
  Builder(const ModelSpec& model_spec, const ModelOptions& model_options, Arena& weights_arena)
      : spec(model_spec), options(model_options), arena(weights_arena) {}

  const ModelSpec& spec;
  const ModelOptions& options;
  Arena& arena;

  // The plan for a problem; a refusal is collected and gives an empty plan.
  template <class Runner, class Problem>
  kernels::Plan<Runner, Problem> plan(std::span<const Runner* const> runners, const Problem& problem,
                                      const std::string& wanted) {
    auto chosen = kernels::choose(runners, problem, wanted);
    const std::string text = to_string(problem);
    if (!chosen) {
      if (refusals_.emplace(text, chosen.reason()).second) problems_.push_back(chosen.reason());
      return {};
    }
    PlanLine& line = lines_[text];
    line = {text, std::string(chosen->runner->name()), line.layers + 1};
    return *std::move(chosen);
  }

  std::vector<PlanLine> lines() const {
    std::vector<PlanLine> all;
    for (const auto& [text, line] : lines_) all.push_back(line);
    return all;
  }
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::map<std::string, PlanLine> lines_;
  std::map<std::string, std::string> refusals_;
  std::vector<std::string> problems_;
};

}  // namespace assay::model
