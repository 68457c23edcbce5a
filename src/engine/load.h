#pragma once
// From a model folder to a running engine: reads config and weights, makes the plans, sizes the cache, runs
// the canary.
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "engine/engine.h"

namespace assay::engine {

struct EngineOptions {
  std::string model_path;          // a folder (already resolved)
  int threads = 0;                 // 0 = all cores this process may use
  int context_length = 0;          // 0 = the model's max_position_embeddings
  int max_running_requests = 64;   // state slots
  int64_t max_total_tokens = 0;    // KV pages x page size; 0 = from mem_fraction_static
  double mem_fraction_static = 0;  // share of free memory for weights + KV; 0 = default
  int page_size = 64;              // tokens per KV page
  int chunked_prefill_size = 512;  // token budget of one step
  std::string quantization;        // what the operator says the checkpoint is; empty = as the tensors say
  std::string precision;           // empty = the device's default class (CPU: w4a32)
  std::string moe_runner_backend = "auto";
};

// Phases in order: "checkpoint", "weights", "plan", "canary", "ready"; fraction of this phase in [0, 1].
using Progress = std::function<void(const std::string& phase, double fraction)>;

// What the door must know of a loaded model.
struct ModelCard {
  std::string architecture;
  int32_t vocab_size = 0;      // rows of the head
  int32_t context_length = 0;  // prompt + output
  int64_t weight_bytes = 0;
};

struct LoadedEngine {
  ModelCard card;
  std::unique_ptr<Engine> engine;
};

// `tokenizer_size`: ids at or above it are padding rows of the head and are never sampled.
Result<LoadedEngine> load_engine(const EngineOptions& options, int32_t tokenizer_size, Engine::EventSink sink,
                                 const Progress& progress);

}  // namespace assay::engine
