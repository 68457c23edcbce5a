// Proof cases of the small operations: add_norm, norm_rope and the sigmoid gate one after the other; the
// output is all three results in a row.
#include "kernels/prove/family_prover.h"
#include "kernels/small/expected.h"

namespace assay::kernels {
namespace {

constexpr int64_t kHeads = 3, kDim = 32, kRotary = 16;

class SmallCase final : public ProofCase {
 public:
  SmallCase(const SmallRunner& runner, const SmallProblem& p, const CaseSpec& spec, std::mt19937& rng)
      : runner_(runner),
        p_(p),
        rows_(spec.rows),
        residual_(random_values(spec.kind, rows_ * p.hidden, rng)),
        heads_(random_values(spec.kind, rows_ * kHeads * kDim, rng)),
        stream_(residual_.size() * sizeof(float)),
        delta_(GuardedBuffer::of(random_values(spec.kind, rows_ * p.hidden, rng))),
        weight_(GuardedBuffer::of(random_values(ValueKind::normal, p.hidden, rng))),
        head_weight_(GuardedBuffer::of(random_values(ValueKind::normal, kDim, rng))),
        gate_(GuardedBuffer::of(random_values(ValueKind::normal, rows_ * kHeads * kDim, rng))),
        normed_(residual_.size() * sizeof(float)),
        turned_(heads_.size() * sizeof(float)),
        gated_(heads_.size() * sizeof(float)) {
    for (int64_t r = 0; r < rows_; ++r) positions_.push_back(static_cast<int32_t>(rng() % 300000));
    for (int64_t i = 0; i < kRotary / 2; ++i)
      frequency_.push_back(std::pow(1e6, -2.0 * static_cast<double>(i) / kRotary));
    reset();
    append(expect_add_norm(p_, norm_args(0, rows_)));
    append(expect_norm_rope(rope_args(0, rows_)));
    append(expect_gate(gate_args(0, rows_)));
  }

  void prepare() override {
    normed_.poison();
    reset();
  }
  void run(const CpuContext& cpu) override { run_rows(0, rows_, cpu); }
  void run_apart(const CpuContext& cpu) override {
    for (int64_t r = 0; r < rows_; ++r) run_rows(r, 1, cpu);
  }
  std::span<const float> output() const override { return result_; }
  const Expected& expected() const override { return expected_; }
  bool intact() const override {
    return stream_.intact() && delta_.intact() && weight_.intact() && head_weight_.intact() &&
           gate_.intact() && normed_.intact() && turned_.intact() && gated_.intact();
  }

 private:
  void reset() {
    std::copy(residual_.begin(), residual_.end(), stream_.floats());
    std::copy(heads_.begin(), heads_.end(), turned_.floats());
    std::copy(heads_.begin(), heads_.end(), gated_.floats());
  }
  void append(const Expected& e) {
    expected_.value.insert(expected_.value.end(), e.value.begin(), e.value.end());
    expected_.bound.insert(expected_.bound.end(), e.bound.begin(), e.bound.end());
  }
  AddNormArgs norm_args(int64_t first, int64_t count) const {
    const int64_t at = first * p_.hidden;
    return {count, stream_.floats() + at, delta_.floats() + at, weight_.floats(),
            1e-6f, normed_.floats() + at};
  }
  NormRopeArgs rope_args(int64_t first, int64_t count) const {
    return {
        .rows = count,
        .heads = kHeads,
        .head_dim = kDim,
        .head_stride = kDim,
        .row_stride = kHeads * kDim,
        .x = turned_.floats() + first * kHeads * kDim,
        .norm_weight = head_weight_.floats(),
        .eps = 1e-6f,
        .rotary_dim = kRotary,
        .inverse_frequency = frequency_.data(),
        .positions = std::span(positions_).subspan(static_cast<size_t>(first), static_cast<size_t>(count))};
  }
  GateArgs gate_args(int64_t first, int64_t count) const {
    const int64_t at = first * kHeads * kDim;
    return {count, kHeads, kDim, gated_.floats() + at, gate_.floats() + at, kDim, kHeads * kDim};
  }
  void run_rows(int64_t first, int64_t count, const CpuContext& cpu) {
    runner_.add_norm(p_, norm_args(first, count), cpu);
    runner_.norm_rope(p_, rope_args(first, count), cpu);
    runner_.sigmoid_gate(p_, gate_args(first, count), cpu);
    result_.clear();
    for (const GuardedBuffer* part : {&normed_, &turned_, &gated_}) {
      result_.insert(result_.end(), part->as_floats().begin(), part->as_floats().end());
    }
  }

  const SmallRunner& runner_;
  const SmallProblem& p_;
  int64_t rows_;
  std::vector<float> residual_, heads_, result_;
  GuardedBuffer stream_, delta_, weight_, head_weight_, gate_, normed_, turned_, gated_;
  std::vector<int32_t> positions_;
  std::vector<double> frequency_;
  Expected expected_;
};

class OpenSmall final : public OpenRunner {
 public:
  OpenSmall(const SmallRunner& runner, const SmallProblem& problem, uint64_t)
      : runner_(runner), problem_(problem) {}
  std::unique_ptr<ProofCase> make_case(const CaseSpec& spec, std::mt19937& rng) override {
    return std::make_unique<SmallCase>(runner_, problem_, spec, rng);
  }
  size_t scratch_bytes(int64_t, int) const override { return 0; }
  Determinism determinism() const override { return runner_.determinism(); }
  int64_t bytes_moved(int64_t rows) const override {
    return 4 * rows * (4 * problem_.hidden + 5 * kHeads * kDim);
  }

 private:
  const SmallRunner& runner_;
  SmallProblem problem_;
};

}  // namespace

const FamilyProver* small_prover() {
  static const FamilyProverOf<SmallRunner, SmallProblem, OpenSmall> prover(small_runners());
  return &prover;
}

}  // namespace assay::kernels
