#pragma once
// The engine as a process: reads the wire, feeds the engine, sends back its events. It owns weights and
// kernels and sees token ids only.
#include <functional>
#include <memory>
#include <stop_token>

#include "engine/load.h"

namespace assay::serve {

// The part of engine::Engine that the process needs; tests put a fake behind it.
class EnginePort {
 public:
  virtual ~EnginePort() = default;
  virtual void submit(engine::Request request) = 0;
  virtual void cancel(engine::RequestId id) = 0;
  virtual void run(std::stop_token stop) = 0;
  virtual engine::EngineStats stats() const = 0;
};

struct LoadedPort {
  engine::ModelCard card;
  std::unique_ptr<EnginePort> engine;
};

using EngineLoader =
    std::function<Result<LoadedPort>(const engine::EngineOptions& options, int32_t tokenizer_size,
                                     engine::Engine::EventSink sink, const engine::Progress& progress)>;

// The product's loader: engine::load_engine.
Result<LoadedPort> load_real_engine(const engine::EngineOptions& options, int32_t tokenizer_size,
                                    engine::Engine::EventSink sink, const engine::Progress& progress);

// Body of the hidden subcommand; returns the exit code (2: the model cannot be loaded; trying again will not
// help).
int run_engine_process(const EngineLoader& loader);

}  // namespace assay::serve
