#include "fake_engine.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

namespace assay::tests {
namespace {

constexpr std::chrono::milliseconds kStep{2};
constexpr uint32_t kPages = 1000;

class FakeEngine final : public serve::EnginePort {
 public:
  FakeEngine(const engine::EngineOptions& options, int32_t vocab, engine::Engine::EventSink sink)
      : slots_(static_cast<size_t>(options.max_running_requests)), vocab_(vocab), sink_(std::move(sink)) {}

  void submit(engine::Request request) override {
    std::lock_guard lock(mutex_);
    requests_.push_back({std::move(request), 0});
    wake_.notify_all();
  }
  void cancel(engine::RequestId id) override {
    std::lock_guard lock(mutex_);
    cancels_.push_back(id);
    wake_.notify_all();
  }
  void run(std::stop_token stop) override {
    while (!stop.stop_requested()) {
      std::vector<engine::TokenEvent> events = step();
      sink_(events);
      std::this_thread::sleep_for(kStep);
    }
  }
  engine::EngineStats stats() const override {
    std::lock_guard lock(mutex_);
    engine::EngineStats s = stats_;
    s.running = static_cast<uint32_t>(std::min(requests_.size(), slots_));
    s.waiting = static_cast<uint32_t>(requests_.size()) - s.running;
    s.pages_used = s.state_slots_used = s.running;
    s.pages_total = kPages;
    s.state_slots_total = static_cast<uint32_t>(slots_);
    return s;
  }

 private:
  struct Running {
    engine::Request request;
    int32_t made = 0;
  };

  std::vector<engine::TokenEvent> step() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return !requests_.empty() || !cancels_.empty(); });
    std::vector<engine::TokenEvent> events;
    for (engine::RequestId id : cancels_)
      for (auto r = requests_.begin(); r != requests_.end(); ++r)
        if (r->request.id == id) {
          events.push_back({id, -1, r->made, engine::FinishReason::cancelled, false});
          requests_.erase(r);
          ++stats_.cancelled_requests;
          ++stats_.finished_requests;
          break;
        }
    cancels_.clear();
    size_t slot = 0;
    for (auto r = requests_.begin(); r != requests_.end() && slot++ < slots_;) {
      const engine::TokenEvent event = next(*r);
      events.push_back(event);
      ++stats_.generated_tokens;
      r = event.finish == engine::FinishReason::none ? std::next(r) : requests_.erase(r);
    }
    ++stats_.steps;
    return events;
  }

  engine::TokenEvent next(Running& r) {
    const engine::SamplingParams& s = r.request.sampling;
    uint64_t hash = s.temperature > 0 ? s.seed * 31 + s.choice_index : 7;
    for (engine::TokenId id : r.request.prompt) hash = hash * 1099511628211ull + static_cast<uint64_t>(id);
    hash = (hash + static_cast<uint64_t>(r.made)) * 0x9E3779B97F4A7C15ull;
    const auto token =
        static_cast<engine::TokenId>((hash >> 33) % static_cast<uint64_t>(std::min(vocab_, 4000)));
    const engine::TokenEvent event{r.request.id, token, r.made++, engine::FinishReason::none, false};
    if (r.made < s.max_tokens) return event;
    engine::TokenEvent last = event;
    last.finish = engine::FinishReason::length;
    ++stats_.finished_requests;
    return last;
  }

  size_t slots_;
  int32_t vocab_;
  engine::Engine::EventSink sink_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::list<Running> requests_;
  std::vector<engine::RequestId> cancels_;
  engine::EngineStats stats_;
};

}  // namespace

Result<serve::LoadedPort> load_fake_engine(const engine::EngineOptions& options, int32_t tokenizer_size,
                                           engine::Engine::EventSink sink, const engine::Progress& progress) {
  for (const char* phase : {"checkpoint", "weights", "plan", "canary", "ready"}) {
    progress(phase, 0.5);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  engine::ModelCard card{"FakeForCausalLM", tokenizer_size,
                         options.context_length > 0 ? options.context_length : 4096, 0};
  return serve::LoadedPort{card, std::make_unique<FakeEngine>(options, tokenizer_size, std::move(sink))};
}

}  // namespace assay::tests
