#include "kernels/prove/proof.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace assay::kernels {
namespace {

constexpr int kRepeats = 3;
constexpr int64_t kMaxApartRows = 9;  // row-by-row runs of larger batches add time, not knowledge

class Run {
 public:
  Run(OpenRunner& runner, uint64_t seed, int threads)
      : runner_(runner),
        rng_(static_cast<uint32_t>(seed)),
        pool_(threads),
        scratch_(runner.scratch_bytes(std::end(kProofRows)[-1], threads)),
        cpu_{pool_, scratch_.data()} {}

  // Empty, or why the runner is struck off.
  std::string run_case(const CaseSpec& spec, const std::string& name, Proof& proof) {
    const auto c = runner_.make_case(spec, rng_);
    std::vector<float> first;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      scratch_.poison();
      c->prepare();
      c->run(cpu_);
      proof.executions++;
      if (std::string why = judge_output(*c, name, proof); !why.empty()) return why;
      if (repeat == 0)
        first.assign(c->output().begin(), c->output().end());
      else if (runner_.determinism() != Determinism::none && !same_bits(first, c->output())) {
        return "claims the same bits from run to run, but a repeat differs";
      }
    }
    if (spec.rows > kMaxApartRows || runner_.determinism() != Determinism::row_invariant) return "";
    scratch_.poison();
    c->prepare();
    c->run_apart(cpu_);
    proof.executions++;
    return same_bits(first, c->output()) ? "" : "claims row invariance, but rows alone give other bits";
  }

 private:
  static bool same_bits(const std::vector<float>& a, std::span<const float> b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
  }

  std::string judge_output(const ProofCase& c, const std::string& name, Proof& proof) const {
    if (!c.intact() || !scratch_.intact()) return "wrote outside its buffers";
    for (float v : c.output()) {
      if (std::isnan(v)) return "left a NaN in its output";
    }
    const std::vector<float> out = c.judged_output();
    const Judgement j = judge(out, c.expected().value, c.expected().bound);
    if (j.worst_ratio > proof.worst_ratio) {
      proof.worst_ratio = j.worst_ratio;
      proof.worst_case = name;
    }
    if (j.passed()) return "";
    const auto at = static_cast<size_t>(j.worst_index);
    return fmt::format("{} of {} outputs outside their bound; output {} is {}, expected {} +- {:.3g}",
                       j.violations, out.size(), at, out[at], c.expected().value[at], c.expected().bound[at]);
  }

  OpenRunner& runner_;
  std::mt19937 rng_;
  ThreadPool pool_;
  GuardedBuffer scratch_;
  CpuContext cpu_;
};

}  // namespace

Proof prove(OpenRunner& runner, uint64_t seed, int threads,
            const std::function<void(const std::string&)>& begin_case) {
  Proof proof;
  Run run(runner, seed, threads);
  int index = 0;
  for (int kind = 0; kind < kValueKinds; ++kind) {
    for (int64_t rows : kProofRows) {
      const CaseSpec spec{static_cast<ValueKind>(kind), rows, index++};
      const std::string name = fmt::format("{} x {} rows", name_of(spec.kind), rows);
      begin_case(name);
      proof.failure = run.run_case(spec, name, proof);
      if (!proof.failure.empty()) {
        proof.failure = fmt::format("case {}: {}", name, proof.failure);
        return proof;
      }
    }
    proof.kinds++;
  }
  if (proof.executions < kMinExecutions) {
    proof.failure = fmt::format("only {} executions, a proof needs {}", proof.executions, kMinExecutions);
  }
  return proof;
}

}  // namespace assay::kernels
