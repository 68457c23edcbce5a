#pragma once
// The engine: requests in, token events out. One thread calls run(); any thread may call submit() and
// cancel().
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/request.h"

namespace assay::engine {

class Executor;
class Scheduler;

class Engine {
 public:
  // Called on the engine's thread with the events of one step, in order per request.
  using EventSink = std::function<void(std::span<const TokenEvent>)>;

  Engine(std::unique_ptr<Executor> executor, std::unique_ptr<Scheduler> scheduler, EventSink sink);
  ~Engine();

  void submit(Request request);
  void cancel(RequestId id);  // takes effect within one step; unknown ids are ignored

  // Runs steps until `stop` is requested; requests still alive then get a `cancelled` event.
  void run(std::stop_token stop);

  EngineStats stats() const;

 private:
  struct Inbox {
    std::vector<Request> requests;
    std::vector<RequestId> cancels;
  };
  Inbox take_inbox(std::stop_token stop, bool wait);
  void apply(Inbox inbox);
  void publish();

  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Scheduler> scheduler_;
  EventSink sink_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  Inbox inbox_;
  EngineStats stats_;
};

}  // namespace assay::engine
