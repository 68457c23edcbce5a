// The harness: correct runners are proven, wrong ones struck off for the right reason; books and worker lines
// read back.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/linear/reference.h"
#include "kernels/moe/runner.h"
#include "kernels/prove/family_prover.h"
#include "kernels/prove/planner.h"

namespace assay::kernels {
namespace {

const std::vector<std::string> kProblems = {
    "small hidden=96 precision=w4a32",
    "linear inputs=96 format=nvfp4 precision=w4a32",
    "attention heads=4 kv_heads=2 head_dim=16 page_size=16 scale=0.25 precision=w4a32",
    "delta key_heads=1 value_heads=2 key_dim=16 value_dim=16 conv_width=4 eps=1e-06 precision=w4a32",
    "moe hidden=32 intermediate=32 experts=6 top_k=2 shared=32 shared_gate=1 activation=silu format=nvfp4 "
    "precision=w4a32",
};

TEST(ProblemText, ReadsBackAndRefusesWhatIsNoProblem) {
  auto moe = parse_problem<MoeProblem>(kProblems[4]);
  ASSERT_TRUE(moe) << moe.reason();
  EXPECT_EQ(moe->experts, 6);
  EXPECT_EQ(to_string(*moe), kProblems[4]);
  for (const char* line :
       {"", "moe", "linear inputs=96 format=nvfp4", "linear inputs=x format=nvfp4 precision=w4a32",
        "linear inputs=96 format=nvfp5 precision=w4a32",
        "linear inputs=96 format=nvfp4 precision=w4a32 more=1",
        "linear inputs=96 inputs=96 format=nvfp4 precision=w4a32", "small hidden=96 precision=w4a32"}) {
    EXPECT_FALSE(parse_problem<LinearProblem>(line)) << line;
  }
}

TEST(Prove, EveryRunnerOfEveryFamilyIsProven) {
  for (const std::string& problem : kProblems) {
    const FamilyProver* prover = *prover_of(problem);
    for (const std::string& name : prover->runners()) {
      auto runner = prover->open(problem, name, 3);
      ASSERT_TRUE(runner) << runner.reason();
      const Proof proof = prove(**runner, 3, 2, [](const std::string&) {});
      EXPECT_TRUE(proof.passed()) << problem << " " << name << ": " << proof.failure;
      EXPECT_GE(proof.executions, kMinExecutions);
      EXPECT_EQ(proof.kinds, kValueKinds);
    }
  }
}

// A correct linear runner with one planted fault.
class Faulty final : public LinearRunner {
 public:
  enum class Fault { none, zeros, scaled, tail, nan, stale, batch_dependent, rare };
  explicit Faulty(Fault fault) : fault_(fault) {}
  std::string_view name() const override { return "faulty"; }
  Determinism determinism() const override { return Determinism::row_invariant; }
  Verdict accepts(const LinearProblem& p) const override { return linear_reference()->accepts(p); }
  QuantView pack(const QuantView& w, Arena& arena) const override {
    return linear_reference()->pack(w, arena);
  }
  size_t scratch_bytes(const LinearProblem&, int64_t, int) const override { return 64; }
  void run(const LinearProblem& problem, const LinearArgs& args, const CpuContext& cpu) const override {
    linear_reference()->run(problem, args, cpu);
    float* y = args.parts[0].y;
    const int64_t outputs = args.parts[0].weight->rows, count = args.rows * outputs;
    switch (fault_) {
      case Fault::none:
        break;
      case Fault::zeros:
        std::fill_n(y, count, 0.0f);
        break;
      case Fault::scaled:
        for (int64_t i = 0; i < count; ++i) y[i] *= 1.25f;
        break;
      case Fault::tail:
        if (outputs % 32 != 0) y[count - 1] = 0;
        break;
      case Fault::nan:
        y[0] = NAN;
        break;
      case Fault::stale:
        y[0] += *reinterpret_cast<const float*>(cpu.scratch);
        break;
      case Fault::batch_dependent:
        for (int64_t i = 0; i < count; ++i) y[i] *= args.rows > 1 ? 1.0f + 0x1p-23f : 1.0f;
        break;
      case Fault::rare:
        if (++runs_ % 50 == 0) y[0] = 1e9f;
        break;
    }
  }

 private:
  Fault fault_;
  mutable int runs_ = 0;
};

std::string struck_off_for(Faulty::Fault fault) {
  const Faulty faulty(fault);
  const auto opened = open_linear_for_proof(faulty, *parse_problem<LinearProblem>(kProblems[1]), 3);
  return prove(*opened, 3, 1, [](const std::string&) {}).failure;
}

TEST(Prove, PlantedFaultsAreStruckOffForTheRightReason) {
  using Fault = Faulty::Fault;
  EXPECT_EQ(struck_off_for(Fault::none), "");
  const std::pair<Fault, const char*> cases[] = {{Fault::zeros, "outside their bound"},
                                                 {Fault::scaled, "outside their bound"},
                                                 {Fault::tail, "outside their bound"},
                                                 {Fault::nan, "NaN"},
                                                 {Fault::stale, "NaN"},
                                                 {Fault::batch_dependent, "row invariance"},
                                                 {Fault::rare, "outside their bound"}};
  for (const auto& [fault, reason] : cases) {
    const std::string failure = struck_off_for(fault);
    EXPECT_NE(failure.find(reason), std::string::npos) << static_cast<int>(fault) << ": " << failure;
  }
}

TEST(ProveDeath, AWriteFarPastTheEndHitsAnUnmappedPage) {
  const GuardedBuffer buffer(4096);
  EXPECT_DEATH(*const_cast<volatile std::byte*>(buffer.data() + 4096) = std::byte{1}, "");
}

TEST(GuardedBuffer, SeesTheNearestBytes) {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{100}, size_t{4096}}) {
    const GuardedBuffer buffer(bytes);
    EXPECT_TRUE(buffer.intact());
    buffer.poison();
    EXPECT_TRUE(buffer.intact());
    buffer.data()[-1] = std::byte{0};
    EXPECT_FALSE(buffer.intact());
  }
}

TEST(Worker, LinesAreReadOrRefused) {
  const auto read = [](const std::string& line) {
    Proof proof;
    std::string last;
    bool finished = false;
    return read_worker_line(line, proof, last, finished);
  };
  EXPECT_TRUE(read("case a x 3 rows"));
  EXPECT_TRUE(read("failed because"));
  EXPECT_TRUE(read("proven 406 14 0.25 tiny x 8 rows"));
  for (const char* line : {"", "proven", "proven 10 14 0.25 x", "proven 406 3 0.25 x", "proven 406 14 7 x",
                           "proven 406 14 nan x", "hello"}) {
    EXPECT_FALSE(read(line)) << line;
  }
}

TEST(PlanBook, ReadsBackAndNamesTheDamagedLine) {
  PlannerOptions options{
      .timings = false, .prove = [](const ProofTask& task, const WorkerLimits&) {
        WorkerResult r;
        r.proof = {.executions = 406, .kinds = 14, .worst_ratio = 0.5, .worst_case = "tiny x 8 rows"};
        if (task.runner == "cpu_plain")
          r.proof.failure = "died of signal 11 (last case begun: ramp x 9 rows)";
        return r;
      }};
  auto entry = plan_problem(kProblems[3], options);
  ASSERT_TRUE(entry) << entry.reason();
  EXPECT_EQ(entry->chosen, "cpu_chunked");  // the first proven; the reference is last
  entry->timings.push_back({"cpu_chunked", 8, 12.5, 0.25, 4096});
  PlanBook book;
  book.put(*entry);
  const auto again = PlanBook::parse(book.text());
  ASSERT_TRUE(again) << again.reason();
  EXPECT_EQ(again->text(), book.text());
  Signature now = entry->signature;
  EXPECT_NE(again->find(kProblems[3], now), nullptr);
  std::string why;
  now.runners += ",new";
  EXPECT_EQ(again->find(kProblems[3], now, &why), nullptr);
  EXPECT_NE(why.find("runners changed"), std::string::npos);
  for (const std::string& damaged :
       {std::string("plan book 7\n"), book.text() + "nonsense\n", book.text() + "time x rows=a\n"}) {
    const auto refused = PlanBook::parse(damaged);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.reason().find("line"), std::string::npos);
  }
}

TEST(PlanBook, ExplainsWhenNothingIsProven) {
  PlannerOptions options{.timings = false, .prove = [](const ProofTask&, const WorkerLimits&) {
                           WorkerResult r;
                           r.proof.failure = "hung";
                           return r;
                         }};
  EXPECT_EQ(plan_problem(kProblems[1], options)->chosen, "");
  EXPECT_FALSE(plan_problem("nonsense a=1", options));
}

}  // namespace
}  // namespace assay::kernels
