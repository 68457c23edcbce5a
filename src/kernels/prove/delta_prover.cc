// Proof cases of Gated DeltaNet: a fresh sequence and one that continues from a state, in one step.
#include "kernels/delta/expected.h"
#include "kernels/delta/runner.h"
#include "kernels/prove/family_prover.h"

namespace assay::kernels {
namespace {

class DeltaCase final : public ProofCase {
 public:
  DeltaCase(const DeltaRunner& runner, const DeltaProblem& p, const CaseSpec& spec, std::mt19937& rng)
      : runner_(runner),
        p_(p),
        rows_(spec.rows),
        first_rows_(spec.rows / 2),
        qkv_(GuardedBuffer::of(random_values(spec.kind, rows_ * p.channels(), rng))),
        z_(normal(rows_ * p.value_heads * p.value_dim, rng)),
        b_(normal(rows_ * p.value_heads, rng)),
        a_(normal(rows_ * p.value_heads, rng)),
        conv_(normal(p.channels() * p.conv_width, rng)),
        a_log_(normal(p.value_heads, rng)),
        dt_bias_(normal(p.value_heads, rng)),
        norm_(normal(p.value_dim, rng)),
        fresh_state_(static_cast<size_t>(p.state_floats()) * sizeof(float)),
        state_(static_cast<size_t>(p.state_floats()) * sizeof(float)),
        out_(static_cast<size_t>(rows_ * p.value_heads * p.value_dim) * sizeof(float)),
        incoming_(random_values(ValueKind::normal, p.state_floats(), rng)) {
    reset_states();
    std::vector<float*> keep(static_cast<size_t>(rows_), nullptr);
    expected_ = expect_delta(p, make_args(make_sequences(keep)));
  }

  void prepare() override {
    out_.poison();
    reset_states();
  }
  void run(const CpuContext& cpu) override {
    std::vector<float*> keep(static_cast<size_t>(rows_), nullptr);
    const auto sequences = make_sequences(keep);
    runner_.run(p_, make_args(sequences), cpu);
  }
  void run_apart(const CpuContext& cpu) override {
    std::vector<float*> keep(static_cast<size_t>(rows_), nullptr);
    for (const DeltaSequence& s : make_sequences(keep)) {
      for (int64_t i = 0; i < s.row_count; ++i) {
        float* state = s.state_out.back();
        const DeltaSequence one{s.row_begin + i, 1, i == 0 ? s.state_in : state, std::span(&state, 1)};
        runner_.run(p_, make_args(std::span(&one, 1)), cpu);
      }
    }
  }
  std::span<const float> output() const override { return out_.as_floats(); }
  const Expected& expected() const override { return expected_; }
  bool intact() const override {
    return qkv_.intact() && z_.intact() && b_.intact() && a_.intact() && conv_.intact() && a_log_.intact() &&
           dt_bias_.intact() && norm_.intact() && fresh_state_.intact() && state_.intact() && out_.intact();
  }

 private:
  static GuardedBuffer normal(int64_t count, std::mt19937& rng) {
    return GuardedBuffer::of(random_values(ValueKind::normal, count, rng));
  }
  void reset_states() {
    fresh_state_.poison();
    std::copy(incoming_.begin(), incoming_.end(), state_.floats());
  }
  // keep: one entry per row; each sequence's last row keeps its state, the second one's in place.
  std::vector<DeltaSequence> make_sequences(std::vector<float*>& keep) const {
    std::vector<DeltaSequence> sequences;
    const auto first = static_cast<size_t>(first_rows_);
    keep.back() = state_.floats();
    if (first > 0) {
      keep[first - 1] = fresh_state_.floats();
      sequences.push_back({0, first_rows_, nullptr, std::span(keep).first(first)});
    }
    sequences.push_back({first_rows_, rows_ - first_rows_, state_.floats(), std::span(keep).subspan(first)});
    return sequences;
  }
  DeltaArgs make_args(std::span<const DeltaSequence> sequences) const {
    return {.qkv = qkv_.floats(),
            .z = z_.floats(),
            .b = b_.floats(),
            .a = a_.floats(),
            .conv_weight = conv_.floats(),
            .a_log = a_log_.floats(),
            .dt_bias = dt_bias_.floats(),
            .norm_weight = norm_.floats(),
            .rows = rows_,
            .sequences = sequences,
            .out = out_.floats()};
  }

  const DeltaRunner& runner_;
  const DeltaProblem& p_;
  int64_t rows_, first_rows_;
  GuardedBuffer qkv_, z_, b_, a_, conv_, a_log_, dt_bias_, norm_, fresh_state_, state_, out_;
  std::vector<float> incoming_;
  Expected expected_;
};

class OpenDelta final : public OpenRunner {
 public:
  OpenDelta(const DeltaRunner& runner, const DeltaProblem& problem, uint64_t)
      : runner_(runner), problem_(problem) {}
  std::unique_ptr<ProofCase> make_case(const CaseSpec& spec, std::mt19937& rng) override {
    return std::make_unique<DeltaCase>(runner_, problem_, spec, rng);
  }
  size_t scratch_bytes(int64_t max_rows, int threads) const override {
    return runner_.scratch_bytes(problem_, max_rows, threads);
  }
  Determinism determinism() const override { return runner_.determinism(); }
  int64_t bytes_moved(int64_t rows) const override {
    const int64_t states = rows == 1 ? 1 : 2;
    return 4 * (2 * states * problem_.state_floats() +
                rows * (problem_.channels() + 2 * problem_.value_heads * problem_.value_dim));
  }

 private:
  const DeltaRunner& runner_;
  DeltaProblem problem_;
};

}  // namespace

const FamilyProver* delta_prover() {
  static const FamilyProverOf<DeltaRunner, DeltaProblem, OpenDelta> prover(delta_runners());
  return &prover;
}

}  // namespace assay::kernels
