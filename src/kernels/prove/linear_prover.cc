// Proof cases of the linear family: one matrix of 96 to 257 outputs with the problem's K and format.
#include "kernels/linear/expected.h"
#include "kernels/linear/runner.h"
#include "kernels/prove/family_prover.h"

namespace assay::kernels {
namespace {

constexpr int64_t kOutputs[] = {96, 257, 1, 130};  // tails of every blocking; varied from case to case

class LinearCase final : public ProofCase {
 public:
  LinearCase(const LinearRunner& runner, const LinearProblem& problem, const QuantView& stored,
             const QuantView& packed, const std::vector<float>& x, int64_t rows)
      : runner_(runner),
        problem_(problem),
        packed_(packed),
        x_(GuardedBuffer::of(x)),
        rows_(rows),
        y_(static_cast<size_t>(rows * packed.rows) * sizeof(float)) {
    expected_ =
        expect_linear({.rows = rows, .x = x.data(), .x_stride = problem.inputs}, {&stored, nullptr, 0});
  }

  void prepare() override { y_.poison(); }
  void run(const CpuContext& cpu) override { run_rows(0, rows_, cpu); }
  void run_apart(const CpuContext& cpu) override {
    for (int64_t r = 0; r < rows_; ++r) run_rows(r, 1, cpu);
  }
  std::span<const float> output() const override { return y_.as_floats(); }
  const Expected& expected() const override { return expected_; }
  bool intact() const override { return x_.intact() && y_.intact(); }

 private:
  void run_rows(int64_t first, int64_t count, const CpuContext& cpu) {
    const LinearPart part{&packed_, y_.floats() + first * packed_.rows, packed_.rows};
    runner_.run(problem_,
                {.rows = count,
                 .x = x_.floats() + first * problem_.inputs,
                 .x_stride = problem_.inputs,
                 .parts = std::span(&part, 1)},
                cpu);
  }
  const LinearRunner& runner_;
  const LinearProblem& problem_;
  const QuantView& packed_;
  GuardedBuffer x_;
  int64_t rows_;
  GuardedBuffer y_;
  Expected expected_;
};

class OpenLinear final : public OpenRunner {
 public:
  OpenLinear(const LinearRunner& runner, const LinearProblem& problem, uint64_t seed)
      : runner_(runner), problem_(problem) {
    std::mt19937 rng(static_cast<uint32_t>(seed));
    for (int64_t outputs : kOutputs) {
      stored_.push_back(random_weight(problem.format, outputs, problem.inputs, rng, arena_));
      packed_.push_back(runner.pack(stored_.back(), packed_arena_));
    }
  }
  std::unique_ptr<ProofCase> make_case(const CaseSpec& spec, std::mt19937& rng) override {
    const auto at = static_cast<size_t>(spec.index) % stored_.size();
    return std::make_unique<LinearCase>(runner_, problem_, stored_[at], packed_[at],
                                        random_values(spec.kind, spec.rows * problem_.inputs, rng),
                                        spec.rows);
  }
  size_t scratch_bytes(int64_t max_rows, int threads) const override {
    return runner_.scratch_bytes(problem_, max_rows, threads);
  }
  Determinism determinism() const override { return runner_.determinism(); }
  int64_t bytes_moved(int64_t rows) const override {
    return packed_[0].bytes() + 4 * rows * (problem_.inputs + packed_[0].rows);
  }

 private:
  const LinearRunner& runner_;
  LinearProblem problem_;
  Arena arena_, packed_arena_;
  std::vector<QuantView> stored_, packed_;
};

}  // namespace

std::unique_ptr<OpenRunner> open_linear_for_proof(const LinearRunner& runner, const LinearProblem& problem,
                                                  uint64_t seed) {
  return std::make_unique<OpenLinear>(runner, problem, seed);
}

const FamilyProver* linear_prover() {
  static const FamilyProverOf<LinearRunner, LinearProblem, OpenLinear> prover(linear_runners());
  return &prover;
}

}  // namespace assay::kernels
