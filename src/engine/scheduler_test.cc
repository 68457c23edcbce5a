#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/fake_executor.h"

namespace assay::engine {
namespace {

constexpr TokenId kVocab = 97;

Request request(RequestId id, int prompt, int max_tokens) {
  Request r{.id = id};
  for (int i = 0; i < prompt; ++i)
    r.prompt.push_back(static_cast<TokenId>((static_cast<int>(id) * 31 + i * 7) % kVocab));
  r.sampling.max_tokens = max_tokens;
  return r;
}

// Scheduler and fake executor, driven at depth 2 as the engine drives them.
struct Bench {
  explicit Bench(const SchedulerConfig& config)
      : scheduler(config), executor(kVocab, config.page_size), budget(config.step_tokens) {}

  // One turn; false when nothing is left to do.
  bool turn() {
    while (in_flight < Executor::kDepth) {
      auto step = scheduler.plan();
      if (!step) break;
      EXPECT_LE(step->tokens(), budget);
      executor.submit(*std::move(step));
      in_flight++;
    }
    collect_events();
    if (in_flight == 0) return false;
    scheduler.commit(executor.collect());
    in_flight--;
    collect_events();
    return true;
  }
  void run() {
    while (turn()) {
    }
  }
  void collect_events() {
    for (RequestId id : scheduler.take_released()) executor.release(id);
    for (const TokenEvent& e : scheduler.take_events()) {
      if (e.token >= 0) {
        EXPECT_EQ(e.index, static_cast<int32_t>(answers[e.request].size()));
        answers[e.request].push_back(e.token);
      }
      if (e.finish != FinishReason::none) finishes[e.request].push_back(e.finish);
    }
  }

  Scheduler scheduler;
  FakeExecutor executor;
  int64_t budget;
  int in_flight = 0;
  std::map<RequestId, std::vector<TokenId>> answers;
  std::map<RequestId, std::vector<FinishReason>> finishes;
};

TEST(Scheduler, OneRequestInChunksOfTheBudget) {
  Bench bench({.page_size = 4, .pages = 20, .state_slots = 2, .step_tokens = 5});
  const Request r = request(1, 23, 9);
  bench.scheduler.submit(r);
  bench.run();
  EXPECT_EQ(bench.answers[1], FakeExecutor::answer(r.prompt, 9, kVocab));
  EXPECT_EQ(bench.finishes[1], std::vector{FinishReason::length});
  EXPECT_EQ(bench.scheduler.stats().pages_used, 0u);
  EXPECT_EQ(bench.executor.remembered(), 0u);
}

TEST(Scheduler, ManyRequestsEachGetTheirOwnAnswer) {
  Bench bench({.page_size = 8, .pages = 40, .state_slots = 5, .step_tokens = 16});
  std::vector<Request> requests;
  for (RequestId id = 1; id <= 20; ++id)
    requests.push_back(request(id, 1 + static_cast<int>(id * 5 % 40), 1 + static_cast<int>(id % 9)));
  for (const Request& r : requests) bench.scheduler.submit(r);
  bench.run();
  for (const Request& r : requests) {
    EXPECT_EQ(bench.answers[r.id], FakeExecutor::answer(r.prompt, r.sampling.max_tokens, kVocab)) << r.id;
  }
  EXPECT_TRUE(bench.scheduler.idle());
}

TEST(Scheduler, EndTokensCutExactlyThere) {
  Bench bench({.page_size = 8, .pages = 40, .state_slots = 4, .step_tokens = 64});
  const auto answer = FakeExecutor::answer(request(1, 5, 1).prompt, 12, kVocab);
  Request stop = request(1, 5, 12);
  stop.sampling.eos_ids = {answer[4]};
  bench.scheduler.submit(stop);
  bench.run();
  const auto first = std::find(answer.begin(), answer.end(), answer[4]);
  EXPECT_EQ(bench.answers[1], std::vector<TokenId>(answer.begin(), first + 1));
  EXPECT_EQ(bench.finishes[1], std::vector{FinishReason::stop});
  Request ignoring = request(1, 5, 12);
  ignoring.id = 2;
  ignoring.sampling.eos_ids = {answer[4]};
  ignoring.sampling.ignore_eos = true;
  bench.scheduler.submit(ignoring);
  bench.run();
  EXPECT_EQ(bench.answers[2], answer);
}

TEST(Scheduler, ReplayedRequestGoesOnWhereItStopped) {
  Bench bench({.page_size = 8, .pages = 40, .state_slots = 4, .step_tokens = 6});
  const Request whole = request(1, 10, 9);
  const auto answer = FakeExecutor::answer(whole.prompt, 9, kVocab);
  Request replayed = whole;
  replayed.emitted = {answer.begin(), answer.begin() + 4};
  bench.answers[1] = replayed.emitted;
  bench.scheduler.submit(replayed);
  bench.run();
  EXPECT_EQ(bench.answers[1], answer);
}

TEST(Scheduler, CancelFreesEverythingWithinTheStepsInFlight) {
  Bench bench({.page_size = 8, .pages = 40, .state_slots = 1, .step_tokens = 16});
  bench.scheduler.submit(request(1, 20, 50));
  bench.scheduler.submit(request(2, 5, 3));  // waits for the slot
  for (int i = 0; i < 5; ++i) bench.turn();
  bench.scheduler.cancel(1);
  bench.scheduler.cancel(99);
  bench.run();
  EXPECT_EQ(bench.finishes[1], std::vector{FinishReason::cancelled});
  EXPECT_EQ(bench.answers[2], FakeExecutor::answer(request(2, 5, 3).prompt, 3, kVocab));
  EXPECT_EQ(bench.scheduler.stats().pages_used, 0u);
  EXPECT_EQ(bench.scheduler.stats().state_slots_used, 0u);
  EXPECT_EQ(bench.executor.remembered(), 0u);
}

TEST(Scheduler, ARequestThatCanNeverFitIsRefusedAndBlocksNobody) {
  Bench bench({.page_size = 8, .pages = 4, .state_slots = 2, .step_tokens = 16});
  bench.scheduler.submit(request(1, 30, 10));
  bench.scheduler.submit(request(2, 10, 4));
  bench.run();
  EXPECT_EQ(bench.finishes[1], std::vector{FinishReason::error});
  EXPECT_EQ(bench.answers[2].size(), 4u);
}

TEST(Scheduler, RunningStreamsAdvanceInEveryStepBesideALongPrompt) {
  Bench bench({.page_size = 8, .pages = 400, .state_slots = 2, .step_tokens = 16});
  bench.scheduler.submit(request(1, 4, 200));
  for (int i = 0; i < 4; ++i) bench.turn();
  bench.scheduler.submit(request(2, 1000, 1));
  size_t before = bench.answers[1].size();
  while (bench.answers[2].empty() && bench.turn()) {
    if (bench.finishes[1].empty()) {
      EXPECT_EQ(bench.answers[1].size(), before + 1);
    }
    before = bench.answers[1].size();
  }
  EXPECT_EQ(bench.answers[2], FakeExecutor::answer(request(2, 1000, 1).prompt, 1, kVocab));
}

}  // namespace
}  // namespace assay::engine
