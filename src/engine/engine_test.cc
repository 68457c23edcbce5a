// The engine with its threads: a real tiny model, many requests at once, against each request alone.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <map>
#include <thread>

#include "engine/load.h"

namespace assay::engine {
namespace {

constexpr int32_t kTokenizerSize = 490;

class Server {
 public:
  explicit Server(int threads = 2) {
    EngineOptions options{.model_path = std::string(ASSAY_SOURCE_DIR) + "/tests/data/golden/qwen35-moe-nvfp4",
                          .threads = threads,
                          .context_length = 512,
                          .chunked_prefill_size = 64};
    auto loaded = load_engine(
        options, kTokenizerSize, [this](std::span<const TokenEvent> events) { take(events); },
        [](const std::string&, double) {});
    if (!loaded) throw std::runtime_error(loaded.reason());
    engine = std::move(loaded->engine);
    thread = std::jthread([this](std::stop_token stop) { engine->run(stop); });
  }

  std::vector<TokenId> wait(RequestId id) {
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return finish.contains(id); });
    return answers[id];
  }

  std::unique_ptr<Engine> engine;
  std::map<RequestId, std::vector<TokenId>> answers;
  std::map<RequestId, FinishReason> finish;

 private:
  void take(std::span<const TokenEvent> events) {
    const std::lock_guard lock(mutex);
    for (const TokenEvent& e : events) {
      if (e.token >= 0) answers[e.request].push_back(e.token);
      if (e.finish != FinishReason::none) finish[e.request] = e.finish;
    }
    done.notify_all();
  }
  std::mutex mutex;
  std::condition_variable done;
  std::jthread thread;
};

Request make(RequestId id) {
  Request r{.id = id};
  for (uint64_t i = 0; i < 1 + id * 7 % 90; ++i)
    r.prompt.push_back(static_cast<TokenId>((id * 131 + i * 17) % 480));
  r.sampling = {.temperature = id % 2 == 0 ? 0.0f : 0.9f,
                .top_p = 0.95f,
                .top_k = 40,
                .seed = id * 1000003,
                .max_tokens = 1 + static_cast<int32_t>(id * 5 % 20)};
  if (id % 3 == 0) r.sampling.repetition_penalty = 1.2f;
  return r;
}

TEST(Engine, ManyStreamsAtOnceEqualEachAlone) {
  constexpr RequestId kRequests = 24;
  Server together, alone(1);
  for (RequestId id = 1; id <= kRequests; ++id) together.engine->submit(make(id));
  for (RequestId id = 1; id <= kRequests; ++id) {
    alone.engine->submit(make(id));
    EXPECT_EQ(together.wait(id), alone.wait(id)) << id;
  }
}

TEST(Engine, CancelledAtRandomPointsNothingStaysBehind) {
  Server server;
  for (RequestId id = 1; id <= 60; ++id) {
    Request r = make(id);
    r.sampling.max_tokens = 200;
    server.engine->submit(std::move(r));
    if (id > 5) server.engine->cancel(id - 5);
    std::this_thread::sleep_for(std::chrono::milliseconds(id % 7));
  }
  for (RequestId id = 56; id <= 60; ++id) server.engine->cancel(id);
  for (RequestId id = 1; id <= 60; ++id) server.wait(id);
  for (int i = 0; i < 200 && server.engine->stats().running > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const EngineStats stats = server.engine->stats();
  EXPECT_EQ(stats.running + stats.waiting + stats.pages_used + stats.state_slots_used, 0u);
  EXPECT_EQ(stats.finished_requests, 60u);
}

TEST(Engine, StoppingCancelsWhatIsAlive) {
  auto server = std::make_unique<Server>();
  Request r = make(2);
  r.sampling.max_tokens = 400;
  r.prompt.resize(10, 1);
  server->engine->submit(r);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  server.reset();  // joins the loop: it must not hang
}

TEST(LoadEngine, RefusalsSayWhatWouldWork) {
  const auto refusal = [](EngineOptions options) {
    if (options.model_path.empty())
      options.model_path = std::string(ASSAY_SOURCE_DIR) + "/tests/data/golden/qwen35-moe-nvfp4";
    auto loaded = load_engine(
        options, kTokenizerSize, [](std::span<const TokenEvent>) {}, [](const std::string&, double) {});
    return loaded ? "" : loaded.reason();
  };
  const std::pair<EngineOptions, std::string> cases[] = {
      {{.model_path = "/nonexistent"}, "cannot open /nonexistent/config.json"},
      {{.context_length = 1 << 20}, "the model's config allows 4096"},
      {{.quantization = "awq"}, "not supported; supported: auto"},
      {{.quantization = "fp8"}, "contradicts the checkpoint"},
      {{.precision = "w2a2"}, "known: w4a32"},
      {{.moe_runner_backend = "marlin"}, "there are: cpu_plain, reference"},
      {{.max_total_tokens = 64}, "less than one context"},
      {{.mem_fraction_static = 1e-6}, "not enough memory"},
  };
  for (const auto& [options, expected] : cases) {
    const std::string reason = refusal(options);
    EXPECT_NE(reason.find(expected), std::string::npos) << expected << " not in: " << reason;
  }
}

}  // namespace
}  // namespace assay::engine
