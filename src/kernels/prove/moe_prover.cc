// Proof cases of the expert block. Routing varies from case to case: uniform, all tokens to one expert, empty
// experts, the last expert hot, Zipf, masked rows.
#include "kernels/moe/expected.h"
#include "kernels/moe/runner.h"
#include "kernels/prove/family_prover.h"

namespace assay::kernels {
namespace {

constexpr int64_t kMaxJudgedRows =
    65;  // of larger batches a sample is judged; all rows are checked for poison
constexpr const char* kRoutingNames[] = {"uniform",         "one expert", "few experts",
                                         "last expert hot", "zipf",       "masked rows"};

// `top_k` different experts of a token.
std::vector<int32_t> choose_experts(const MoeProblem& p, int kind, int64_t token, std::mt19937& rng) {
  std::vector<int32_t> chosen;
  if (kind == 5 && token % 3 == 1) return std::vector<int32_t>(static_cast<size_t>(p.top_k), -1);
  while (static_cast<int64_t>(chosen.size()) < p.top_k) {
    const auto experts = static_cast<uint32_t>(p.experts), k = static_cast<uint32_t>(p.top_k);
    const bool first = chosen.empty();
    int32_t e = static_cast<int32_t>(rng() % experts);
    if (kind == 1 && first) e = static_cast<int32_t>(experts / 2);
    if (kind == 2) e = static_cast<int32_t>(rng() % std::min(experts, k + 1));
    if (kind == 3 && first) e = static_cast<int32_t>(experts - 1);
    if (kind == 4) {
      const double u = static_cast<double>(rng() >> 8) * 0x1p-24;
      e = static_cast<int32_t>(std::pow(static_cast<double>(experts), u)) - 1;  // P(e) about 1 / (e + 1)
    }
    if (std::find(chosen.begin(), chosen.end(), e) == chosen.end()) chosen.push_back(e);
  }
  return chosen;
}

Routing make_routing(const MoeProblem& p, int kind, int64_t tokens, std::mt19937& rng) {
  Routing routing{.tokens = tokens, .top_k = p.top_k};
  std::uniform_real_distribution<float> weight(0.05f, 0.9f);
  for (int64_t t = 0; t < tokens; ++t) {
    for (int32_t e : choose_experts(p, kind, t, rng)) {
      routing.expert.push_back(e);
      routing.weight.push_back(weight(rng));
    }
  }
  group_by_expert(routing, p.experts);
  return routing;
}

Routing one_token(const Routing& all, int64_t token, int64_t experts) {
  Routing one{.tokens = 1, .top_k = all.top_k};
  const auto from = token * all.top_k, to = from + all.top_k;
  one.expert.assign(all.expert.begin() + from, all.expert.begin() + to);
  one.weight.assign(all.weight.begin() + from, all.weight.begin() + to);
  group_by_expert(one, experts);
  return one;
}

class MoeCase final : public ProofCase {
 public:
  MoeCase(const MoeRunner& runner, const MoeProblem& problem, const MoeWeights& stored,
          const MoeWeights& packed, const std::vector<float>& x, Routing routing, const char* routing_name)
      : runner_(runner),
        problem_(problem),
        packed_(packed),
        routing_(std::move(routing)),
        routing_name_(routing_name),
        x_(GuardedBuffer::of(x)),
        out_(x.size() * sizeof(float)) {
    const int64_t step = std::max<int64_t>(1, routing_.tokens / kMaxJudgedRows);
    for (int64_t t = 0; t < routing_.tokens; t += step) judged_.push_back(t);
    if (judged_.back() != routing_.tokens - 1) judged_.push_back(routing_.tokens - 1);
    for (int64_t t : judged_) {
      const Routing one = one_token(routing_, t, problem.experts);
      const Expected row =
          expect_moe(problem, {.weights = &stored, .routing = &one, .x = x.data() + t * problem.hidden});
      expected_.value.insert(expected_.value.end(), row.value.begin(), row.value.end());
      expected_.bound.insert(expected_.bound.end(), row.bound.begin(), row.bound.end());
    }
  }

  void prepare() override { out_.poison(); }
  void run(const CpuContext& cpu) override {
    runner_.run(problem_, {.weights = &packed_, .routing = &routing_, .x = x_.floats(), .out = out_.floats()},
                cpu);
  }
  void run_apart(const CpuContext& cpu) override {
    for (int64_t t = 0; t < routing_.tokens; ++t) {
      const Routing one = one_token(routing_, t, problem_.experts);
      const int64_t at = t * problem_.hidden;
      runner_.run(problem_,
                  {.weights = &packed_, .routing = &one, .x = x_.floats() + at, .out = out_.floats() + at},
                  cpu);
    }
  }
  std::span<const float> output() const override { return out_.as_floats(); }
  const Expected& expected() const override { return expected_; }
  std::vector<float> judged_output() const override {
    std::vector<float> rows;
    for (int64_t t : judged_) {
      const float* row = out_.floats() + t * problem_.hidden;
      rows.insert(rows.end(), row, row + problem_.hidden);
    }
    return rows;
  }
  bool intact() const override { return x_.intact() && out_.intact(); }
  std::string variant() const override { return routing_name_; }

 private:
  const MoeRunner& runner_;
  const MoeProblem& problem_;
  const MoeWeights& packed_;
  Routing routing_;
  const char* routing_name_;
  GuardedBuffer x_, out_;
  std::vector<int64_t> judged_;
  Expected expected_;
};

class OpenMoe final : public OpenRunner {
 public:
  OpenMoe(const MoeRunner& runner, const MoeProblem& p, uint64_t seed) : runner_(runner), problem_(p) {
    std::mt19937 rng(static_cast<uint32_t>(seed));
    const auto expert = [&](int64_t inter) {
      return ExpertWeights{random_weight(p.format, inter, p.hidden, rng, arena_),
                           random_weight(p.format, inter, p.hidden, rng, arena_),
                           random_weight(p.format, p.hidden, inter, rng, arena_)};
    };
    for (int64_t e = 0; e < p.experts; ++e) stored_.experts.push_back(expert(p.intermediate));
    if (p.shared_intermediate > 0) stored_.shared = expert(p.shared_intermediate);
    if (p.shared_gate) stored_.shared_gate = random_values(ValueKind::normal, p.hidden, rng);
    packed_ = runner.pack(stored_, packed_arena_);
  }
  std::unique_ptr<ProofCase> make_case(const CaseSpec& spec, std::mt19937& rng) override {
    const int kind = problem_.experts > 0 ? spec.index % 6 : 0;
    return std::make_unique<MoeCase>(runner_, problem_, stored_, packed_,
                                     random_values(spec.kind, spec.rows * problem_.hidden, rng),
                                     make_routing(problem_, kind, spec.rows, rng), kRoutingNames[kind]);
  }
  size_t scratch_bytes(int64_t max_rows, int threads) const override {
    return runner_.scratch_bytes(problem_, max_rows, threads);
  }
  Determinism determinism() const override { return runner_.determinism(); }
  int64_t bytes_moved(int64_t rows) const override {
    // Distinct experts of `rows` independent tokens.
    const double miss = 1.0 - static_cast<double>(problem_.top_k) /
                                  std::max<double>(1, static_cast<double>(problem_.experts));
    const double distinct =
        static_cast<double>(problem_.experts) * (1 - std::pow(miss, static_cast<double>(rows)));
    const auto bytes = [](const ExpertWeights& e) { return e.gate.bytes() + e.up.bytes() + e.down.bytes(); };
    int64_t total = 8 * rows * problem_.hidden;
    if (problem_.experts > 0)
      total += static_cast<int64_t>(distinct * static_cast<double>(bytes(packed_.experts[0])));
    if (problem_.shared_intermediate > 0) total += bytes(packed_.shared);
    return total;
  }

 private:
  const MoeRunner& runner_;
  MoeProblem problem_;
  Arena arena_, packed_arena_;
  MoeWeights stored_, packed_;
};

}  // namespace

const FamilyProver* moe_prover() {
  static const FamilyProverOf<MoeRunner, MoeProblem, OpenMoe> prover(moe_runners());
  return &prover;
}

}  // namespace assay::kernels
