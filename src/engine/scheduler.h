#pragma once
// Scheduler: who runs next, on which pages. A pure state machine: no clock, no thread, no kernel.
//
// First come, first served, continuous batching. A step serves every running sequence that can decode, then
// fills its token budget with chunks of prompts, in order of arrival. A request is admitted when the pages of
// its longest possible answer and a state slot are free, so nothing admitted ever waits for memory. `plan`
// works with upper bounds, `commit` corrects: a row planned behind a token that turned out to be the last one
// is computed and thrown away.
#include <deque>
#include <list>
#include <memory>
#include <unordered_map>

#include "cache/index_pool.h"
#include "engine/step.h"

namespace assay::engine {

struct SchedulerConfig {
  int64_t page_size = 64;  // tokens
  int64_t pages = 0;
  int64_t state_slots = 0;    // also the most sequences that run at once
  int64_t step_tokens = 512;  // token budget of one step, decode rows included
};

class Scheduler {
 public:
  explicit Scheduler(const SchedulerConfig& config);

  void submit(Request request);
  void cancel(RequestId id);
  // The next step, or nullopt when there is nothing to run before a commit or a submit.
  std::optional<Step> plan();
  // Results come in the order of the plans.
  void commit(const StepResult& result);

  // Events and releases since the last call.
  std::vector<TokenEvent> take_events();
  std::vector<RequestId> take_released();  // requests that will not appear in later steps

  std::vector<RequestId> alive() const;  // running and waiting, finished ones excluded
  bool idle() const { return running_.empty() && waiting_.empty(); }
  EngineStats stats() const;

 private:
  struct Sequence {
    std::shared_ptr<const Request> request;
    std::shared_ptr<const std::vector<cache::PageId>> pages;
    cache::SlotId slot = cache::SlotId::none;
    int64_t prefill = 0;        // tokens before the first draw: prompt + replayed ids
    int64_t planned = 0;        // tokens given to a step so far (prompt, then outputs)
    int32_t draws_planned = 0;  // output tokens drawn or in flight, replayed ones included
    int32_t draws_done = 0;
    TokenId last_token = kNoToken;  // valid when draws_done == draws_planned
    TokenRef last_draw;             // else: who draws it
    int in_flight = 0;
    bool finished = false;
  };

  bool admit_first();
  void add_decode_rows(Step& step);
  void add_prefill_rows(Step& step);
  StepRow make_row(Sequence& sequence, int64_t tokens);
  void finish(Sequence& sequence, TokenEvent event);
  void commit_token(Sequence& sequence, TokenId token);
  void release_finished();

  SchedulerConfig config_;
  cache::PagePool pages_;
  cache::StateSlots slots_;
  std::deque<std::shared_ptr<const Request>> waiting_;
  std::list<Sequence> running_;  // in order of arrival
  struct InFlight {
    Ticket ticket{};
    std::vector<std::pair<Sequence*, bool>> rows;  // sequence, draws
  };
  std::deque<InFlight> in_flight_;
  std::vector<TokenEvent> events_;
  std::vector<RequestId> released_;
  uint64_t next_ticket_ = 1;
  EngineStats counters_;
};

}  // namespace assay::engine
