// The engine's loop: inbox -> plan -> submit -> collect -> commit -> publish.
#include "engine/engine.h"

#include "engine/executor.h"
#include "engine/scheduler.h"

namespace assay::engine {

Engine::Engine(std::unique_ptr<Executor> executor, std::unique_ptr<Scheduler> scheduler, EventSink sink)
    : executor_(std::move(executor)), scheduler_(std::move(scheduler)), sink_(std::move(sink)) {
  stats_ = scheduler_->stats();
}

Engine::~Engine() = default;

void Engine::run(std::stop_token stop) {
  int in_flight = 0;
  while (!stop.stop_requested()) {
    apply(take_inbox(stop, in_flight == 0 && scheduler_->idle()));
    while (in_flight < Executor::kDepth) {
      auto step = scheduler_->plan();
      if (!step) break;
      executor_->submit(*std::move(step));
      in_flight++;
    }
    publish();
    if (in_flight == 0) continue;
    const StepResult result = executor_->collect();
    in_flight--;
    scheduler_->commit(result);
    publish();
  }
  for (; in_flight > 0; --in_flight) scheduler_->commit(executor_->collect());
  for (RequestId id : scheduler_->alive()) scheduler_->cancel(id);
  publish();
}

void Engine::submit(Request request) {
  const std::lock_guard lock(mutex_);
  inbox_.requests.push_back(std::move(request));
  wake_.notify_one();
}

void Engine::cancel(RequestId id) {
  const std::lock_guard lock(mutex_);
  inbox_.cancels.push_back(id);
  wake_.notify_one();
}

EngineStats Engine::stats() const {
  const std::lock_guard lock(mutex_);
  EngineStats stats = stats_;
  stats.waiting += static_cast<uint32_t>(inbox_.requests.size());
  return stats;
}

// What arrived since the last call; waits for something when `wait`.
Engine::Inbox Engine::take_inbox(std::stop_token stop, bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) wake_.wait(lock, stop, [&] { return !inbox_.requests.empty() || !inbox_.cancels.empty(); });
  return std::exchange(inbox_, {});
}

// Submissions first: a cancel may follow its request in one batch.
void Engine::apply(Inbox inbox) {
  for (Request& request : inbox.requests) scheduler_->submit(std::move(request));
  for (RequestId id : inbox.cancels) scheduler_->cancel(id);
}

// Hands on what the scheduler decided: events to the sink, released requests to the executor, counters to
// readers.
void Engine::publish() {
  for (RequestId id : scheduler_->take_released()) executor_->release(id);
  {
    const std::lock_guard lock(mutex_);
    stats_ = scheduler_->stats();
  }
  const std::vector<TokenEvent> events = scheduler_->take_events();
  if (!events.empty()) sink_(events);
}

}  // namespace assay::engine
