#pragma once
// The part of a family's prover that is the same for all: names, verdicts, opening.
#include "kernels/plan/problem_text.h"
#include "kernels/prove/prover.h"

namespace assay::kernels {

// Open: a class with a constructor (const Runner&, const Problem&, uint64_t seed).
template <class Runner, class Problem, class Open>
class FamilyProverOf final : public FamilyProver {
 public:
  explicit FamilyProverOf(std::span<const Runner* const> runners) : runners_(runners) {}
  std::string_view family() const override { return Problem::kFamily; }

  std::vector<std::string> runners() const override {
    std::vector<std::string> names;
    for (const Runner* runner : runners_) names.emplace_back(runner->name());
    return names;
  }

  Verdict accepts(const std::string& line, const std::string& runner) const override {
    auto problem = parse_problem<Problem>(line);
    if (!problem) return Verdict::no(problem.reason());
    const Runner* found = find(runner);
    return found == nullptr ? Verdict::no(fmt::format("no runner is called {}", runner))
                            : found->accepts(*problem);
  }

  Result<std::unique_ptr<OpenRunner>> open(const std::string& line, const std::string& runner,
                                           uint64_t seed) const override {
    if (const Verdict verdict = accepts(line, runner); !verdict) return Error{verdict.reason()};
    return std::unique_ptr<OpenRunner>(
        std::make_unique<Open>(*find(runner), *parse_problem<Problem>(line), seed));
  }

 private:
  const Runner* find(std::string_view name) const {
    for (const Runner* runner : runners_) {
      if (runner->name() == name) return runner;
    }
    return nullptr;
  }
  std::span<const Runner* const> runners_;
};

// A linear runner that need not be in the list, for tests of the harness.
class LinearRunner;
struct LinearProblem;
std::unique_ptr<OpenRunner> open_linear_for_proof(const LinearRunner& runner, const LinearProblem& problem,
                                                  uint64_t seed);

const FamilyProver* linear_prover();
const FamilyProver* attention_prover();
const FamilyProver* delta_prover();
const FamilyProver* moe_prover();
const FamilyProver* small_prover();

}  // namespace assay::kernels
