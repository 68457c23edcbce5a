// Proof cases of attention: two sequences in one step, one fresh and one that continues behind cached
// positions, on shuffled pages.
#include <algorithm>
#include <numeric>

#include "kernels/attention/expected.h"
#include "kernels/attention/runner.h"
#include "kernels/prove/family_prover.h"

namespace assay::kernels {
namespace {

constexpr int64_t kCachedLengths[] = {0, 1, 7, 63, 64, 65, 130};

class AttentionCase final : public ProofCase {
 public:
  AttentionCase(const AttentionRunner& runner, const AttentionProblem& p, const CaseSpec& spec,
                std::mt19937& rng)
      : runner_(runner),
        p_(p),
        rows_(spec.rows),
        cached_(kCachedLengths[static_cast<size_t>(spec.index) % 7]),
        q_(GuardedBuffer::of(random_values(spec.kind, rows_ * p.heads * p.head_dim, rng))),
        k_(GuardedBuffer::of(random_values(ValueKind::normal, rows_ * p.kv_heads * p.head_dim, rng))),
        v_(GuardedBuffer::of(random_values(spec.kind, rows_ * p.kv_heads * p.head_dim, rng))),
        cache_(static_cast<size_t>(pages_needed(p) * page_floats(p)) * sizeof(float)),
        out_(static_cast<size_t>(rows_ * p.heads * p.head_dim) * sizeof(float)) {
    order_.resize(static_cast<size_t>(pages_needed(p)));
    std::iota(order_.begin(), order_.end(), 0);
    std::shuffle(order_.begin(), order_.end(), rng);
    first_rows_ = rows_ / 2;
    history_ = random_values(ValueKind::normal, 2 * cached_ * p.kv_heads * p.head_dim, rng);
    reset_cache();
    const auto sequences = make_sequences();
    expected_ = expect_attention(p, make_args(sequences));
  }

  void prepare() override {
    out_.poison();
    reset_cache();
  }
  void run(const CpuContext& cpu) override {
    const auto sequences = make_sequences();
    runner_.run(p_, make_args(sequences), cpu);
  }
  // Row by row: each sequence cut into single tokens.
  void run_apart(const CpuContext& cpu) override {
    for (const AttentionSequence& s : make_sequences()) {
      for (int64_t i = 0; i < s.row_count; ++i) {
        const AttentionSequence one{s.row_begin + i, 1, s.position + i, s.pages};
        runner_.run(p_, make_args(std::span(&one, 1)), cpu);
      }
    }
  }
  std::span<const float> output() const override { return out_.as_floats(); }
  const Expected& expected() const override { return expected_; }
  bool intact() const override {
    return q_.intact() && k_.intact() && v_.intact() && cache_.intact() && out_.intact();
  }
  std::string variant() const override { return fmt::format("{} cached", cached_); }

 private:
  static int64_t page_floats(const AttentionProblem& p) { return 2 * p.page_size * p.kv_heads * p.head_dim; }
  int64_t pages_of(int64_t tokens) const { return (tokens + p_.page_size - 1) / p_.page_size; }
  int64_t pages_needed(const AttentionProblem&) const {
    return pages_of(rows_) + pages_of(rows_ + cached_) + 1;
  }

  // Every float a NaN but the cached positions of the second sequence.
  void reset_cache() {
    cache_.poison();
    const int64_t width = p_.kv_heads * p_.head_dim, half = page_floats(p_) / 2;
    for (int64_t t = 0; t < cached_; ++t) {
      float* page = cache_.floats() + second_pages()[static_cast<size_t>(t / p_.page_size)] * page_floats(p_);
      std::copy_n(history_.data() + 2 * t * width, width, page + t % p_.page_size * width);
      std::copy_n(history_.data() + (2 * t + 1) * width, width, page + half + t % p_.page_size * width);
    }
  }
  std::span<const int32_t> second_pages() const {
    return std::span(order_).subspan(static_cast<size_t>(pages_of(rows_)));
  }

  std::vector<AttentionSequence> make_sequences() const {
    std::vector<AttentionSequence> sequences;
    if (first_rows_ > 0) sequences.push_back({0, first_rows_, 0, order_});
    sequences.push_back({first_rows_, rows_ - first_rows_, cached_, second_pages()});
    return sequences;
  }
  AttentionArgs make_args(std::span<const AttentionSequence> sequences) const {
    return {.q = q_.floats(),
            .q_row_stride = p_.heads * p_.head_dim,
            .q_head_stride = p_.head_dim,
            .k = k_.floats(),
            .v = v_.floats(),
            .sequences = sequences,
            .cache = {cache_.floats(), cache_.floats() + page_floats(p_) / 2, page_floats(p_)},
            .out = out_.floats()};
  }

  const AttentionRunner& runner_;
  const AttentionProblem& p_;
  int64_t rows_, cached_, first_rows_ = 0;
  GuardedBuffer q_, k_, v_, cache_, out_;
  std::vector<int32_t> order_;
  std::vector<float> history_;
  Expected expected_;
};

class OpenAttention final : public OpenRunner {
 public:
  OpenAttention(const AttentionRunner& runner, const AttentionProblem& problem, uint64_t)
      : runner_(runner), problem_(problem) {}
  std::unique_ptr<ProofCase> make_case(const CaseSpec& spec, std::mt19937& rng) override {
    return std::make_unique<AttentionCase>(runner_, problem_, spec, rng);
  }
  size_t scratch_bytes(int64_t max_rows, int threads) const override {
    return runner_.scratch_bytes(problem_, max_rows + 130, threads);
  }
  Determinism determinism() const override { return runner_.determinism(); }
  int64_t bytes_moved(int64_t rows) const override {
    return 4 * rows * problem_.head_dim * 2 * (problem_.heads + problem_.kv_heads);
  }

 private:
  const AttentionRunner& runner_;
  AttentionProblem problem_;
};

}  // namespace

const FamilyProver* attention_prover() {
  static const FamilyProverOf<AttentionRunner, AttentionProblem, OpenAttention> prover(attention_runners());
  return &prover;
}

}  // namespace assay::kernels
