#pragma once
// Provers: how each kernel family makes the cases of a proof. One per family; the harness (proof.h) drives
// them all.
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/plan/expected.h"
#include "kernels/plan/random_inputs.h"
#include "kernels/plan/runner.h"
#include "kernels/prove/guarded_buffer.h"

namespace assay::kernels {

struct CaseSpec {
  ValueKind kind = ValueKind::normal;
  int64_t rows = 1;
  int index = 0;  // of the case in its proof: provers vary routing, page layout and cuts with it
};

// One case: inputs in guarded memory, and what must come out.
class ProofCase {
 public:
  virtual ~ProofCase() = default;
  // Poisons the outputs and puts inputs that a run changes back to their start.
  virtual void prepare() = 0;
  virtual void run(const CpuContext& cpu) = 0;
  // The same rows in another batch or cut: what row invariance must leave bitwise equal. Writes the same
  // output.
  virtual void run_apart(const CpuContext& cpu) = 0;
  virtual std::span<const float> output() const = 0;
  // Rows of the output that `expected` covers (all, or a sample of a large batch), and their values and
  // bounds.
  virtual const Expected& expected() const = 0;
  virtual std::vector<float> judged_output() const { return {output().begin(), output().end()}; }
  virtual bool intact() const = 0;  // no byte outside the buffers was written
  virtual std::string variant() const { return ""; }
};

// A runner opened for one problem: weights packed, ready for cases.
class OpenRunner {
 public:
  virtual ~OpenRunner() = default;
  virtual std::unique_ptr<ProofCase> make_case(const CaseSpec& spec, std::mt19937& rng) = 0;
  virtual size_t scratch_bytes(int64_t max_rows, int threads) const = 0;
  virtual Determinism determinism() const = 0;
  virtual int64_t bytes_moved(
      int64_t rows) const = 0;  // weights, inputs and outputs that `rows` tokens touch at least
};

class FamilyProver {
 public:
  virtual ~FamilyProver() = default;
  virtual std::string_view family() const = 0;
  virtual std::vector<std::string> runners() const = 0;  // in list order, the reference last
  virtual Verdict accepts(const std::string& line, const std::string& runner) const = 0;
  // `line` is the problem's text. Errors: not a problem, no such runner, refused.
  virtual Result<std::unique_ptr<OpenRunner>> open(const std::string& line, const std::string& runner,
                                                   uint64_t seed) const = 0;
};

// linear, attention, delta, moe, small.
std::span<const FamilyProver* const> family_provers();
Result<const FamilyProver*> prover_of(std::string_view problem_line);

}  // namespace assay::kernels
