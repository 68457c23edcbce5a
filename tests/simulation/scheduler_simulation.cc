// Random traffic against the scheduler with a fake executor: scheduler_simulation SEEDS [FIRST].
// Each seed draws a configuration and a stream of submits, cancels and turns, and checks: every finished
// answer is the request's own, every cut answer a prefix of it; budgets hold; requests start in order of
// arrival; nothing stays behind. A failure prints the seed that repeats it.
#include <fmt/format.h>

#include <map>
#include <random>
#include <set>

#include "engine/fake_executor.h"
#include "engine/scheduler.h"

namespace assay::engine {
namespace {

constexpr TokenId kVocab = 53;

class Simulation {
 public:
  explicit Simulation(uint64_t seed)
      : rng_(seed), config_(draw_config()), scheduler_(config_), executor_(kVocab, config_.page_size) {}

  // Empty when all went well.
  std::string run() {
    const int turns = 50 + static_cast<int>(rng_() % 150);
    for (int i = 0; i < turns && failure_.empty(); ++i) {
      if (rng_() % 3 == 0) submit();
      if (rng_() % 10 == 0 && next_id_ > 1) scheduler_.cancel(1 + rng_() % (next_id_ - 1));
      turn(rng_() % 2 == 0);
    }
    for (int i = 0; i < 100000 && failure_.empty() && (in_flight_ > 0 || !scheduler_.idle()); ++i) turn(true);
    check_end();
    return failure_;
  }

 private:
  SchedulerConfig draw_config() {
    return {.page_size = int64_t{1} << rng_() % 7,
            .pages = 8 + static_cast<int64_t>(rng_() % 60),
            .state_slots = 1 + static_cast<int64_t>(rng_() % 8),
            .step_tokens = 8 + static_cast<int64_t>(rng_() % 40)};
  }

  void submit() {
    Request r{.id = next_id_++};
    for (uint64_t i = 0; i < 1 + rng_() % 40; ++i) r.prompt.push_back(static_cast<TokenId>(rng_() % kVocab));
    r.sampling.max_tokens = 1 + static_cast<int32_t>(rng_() % 30);
    if (rng_() % 2 == 0) r.sampling.eos_ids = {static_cast<TokenId>(rng_() % kVocab)};
    if (rng_() % 4 == 0) {
      r.emitted = FakeExecutor::answer(
          r.prompt, static_cast<int>(rng_() % static_cast<uint64_t>(r.sampling.max_tokens)), kVocab);
      for (TokenId t : r.emitted) {
        if (!r.sampling.eos_ids.empty() && t == r.sampling.eos_ids[0]) r.sampling.eos_ids.clear();
      }
    }
    answers_[r.id] = r.emitted;
    requests_[r.id] = r;
    scheduler_.submit(r);
  }

  void turn(bool fill) {
    while (in_flight_ < (fill ? Executor::kDepth : 1)) {
      auto step = scheduler_.plan();
      if (!step) break;
      if (step->tokens() > config_.step_tokens) fail("token budget exceeded");
      for (const StepRow& row : step->rows) note_start(row.request->id);
      executor_.submit(*std::move(step));
      in_flight_++;
    }
    if (in_flight_ > 0) {
      scheduler_.commit(executor_.collect());
      in_flight_--;
    }
    for (RequestId id : scheduler_.take_released()) executor_.release(id);
    for (const TokenEvent& e : scheduler_.take_events()) take(e);
  }

  void note_start(RequestId id) {
    if (!started_.insert(id).second) return;
    if (id < last_started_) fail(fmt::format("request {} started after the younger {}", id, last_started_));
    last_started_ = std::max(last_started_, id);
  }

  void take(const TokenEvent& e) {
    if (finished_.contains(e.request)) fail(fmt::format("event after the end of request {}", e.request));
    if (e.token >= 0) answers_[e.request].push_back(e.token);
    if (e.finish != FinishReason::none) finished_[e.request] = e.finish;
  }

  void check_end() {
    if (!failure_.empty()) return;
    const EngineStats stats = scheduler_.stats();
    if (stats.pages_used + stats.state_slots_used + stats.running + stats.waiting != 0)
      return fail("something stayed behind");
    if (executor_.remembered() != 0) return fail("the executor still remembers a request");
    for (const auto& [id, r] : requests_) {
      if (!finished_.contains(id)) return fail(fmt::format("request {} never finished", id));
      auto expected = FakeExecutor::answer(r.prompt, r.sampling.max_tokens, kVocab);
      for (size_t i = r.emitted.size(); i < expected.size(); ++i) {
        if (!r.sampling.eos_ids.empty() && expected[i] == r.sampling.eos_ids[0]) expected.resize(i + 1);
      }
      const bool cut = finished_[id] == FinishReason::cancelled || finished_[id] == FinishReason::error;
      if (cut) expected.resize(std::min(expected.size(), answers_[id].size()));
      if (answers_[id] != expected)
        return fail(fmt::format("request {} got another answer than its own", id));
    }
  }

  void fail(const std::string& why) {
    if (failure_.empty()) failure_ = why;
  }

  std::mt19937_64 rng_;
  SchedulerConfig config_;
  Scheduler scheduler_;
  FakeExecutor executor_;
  RequestId next_id_ = 1, last_started_ = 0;
  int in_flight_ = 0;
  std::map<RequestId, Request> requests_;
  std::map<RequestId, std::vector<TokenId>> answers_;
  std::map<RequestId, FinishReason> finished_;
  std::set<RequestId> started_;
  std::string failure_;
};

}  // namespace
}  // namespace assay::engine

int main(int argc, char** argv) {
  const uint64_t seeds = argc > 1 ? std::stoull(argv[1]) : 1000, first = argc > 2 ? std::stoull(argv[2]) : 1;
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    const std::string failure = assay::engine::Simulation(seed).run();
    if (failure.empty()) continue;
    fmt::print("seed {}: {}\nrepeat with: scheduler_simulation 1 {}\n", seed, failure, seed);
    return 1;
  }
  fmt::print("{} seeds passed\n", seeds);
  return 0;
}
