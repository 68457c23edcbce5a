#pragma once
// What the door and the engine say to each other about one request. Plain values; text and JSON stay outside.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace assay::engine {

using TokenId = int32_t;
using RequestId = uint64_t;  // made by the door, never by a client

// How tokens are drawn. Every field is already validated by the door: the engine trusts its ranges.
struct SamplingParams {
  float temperature = 1.0f;         // 0 = greedy
  float top_p = 1.0f;               // (0, 1]; 1 = off
  float min_p = 0.0f;               // [0, 1]; 0 = off
  int32_t top_k = 0;                // 0 = off
  float repetition_penalty = 1.0f;  // > 0, over prompt and output; 1 = off
  float presence_penalty = 0.0f;    // [-2, 2], over output
  float frequency_penalty = 0.0f;   // [-2, 2], over output
  uint64_t seed = 0;                // the door draws and journals one where the client gave none
  uint32_t choice_index = 0;        // 0 .. n-1
  int32_t max_tokens = 1;           // >= 1; prompt + max_tokens fits the context
  int32_t min_tokens = 0;           // end tokens are masked before this many
  bool ignore_eos = false;
  std::vector<TokenId> eos_ids;   // the model's end tokens (union of all sources)
  std::vector<TokenId> stop_ids;  // the request's own; they hold under ignore_eos too
  std::vector<std::pair<TokenId, float>> logit_bias;
  bool operator==(const SamplingParams&) const = default;
};

// A request is replayable: prompt + emitted + sampling say all that a fresh engine needs to go on.
struct Request {
  RequestId id = 0;
  std::vector<TokenId> prompt;   // at least one id
  std::vector<TokenId> emitted;  // ids sent to the client by an earlier engine; empty for a new request
  SamplingParams sampling;
  bool operator==(const Request&) const = default;
};

enum class FinishReason : uint8_t { none, stop, length, cancelled, error };

// One token of one request, in order. `index` counts output tokens from 0 (replayed ones included).
// With finish == cancelled or error there is no token (token == -1).
struct TokenEvent {
  RequestId request = 0;
  TokenId token = -1;
  int32_t index = 0;
  FinishReason finish = FinishReason::none;
  bool is_stop_token = false;  // `token` ended the answer (EOS or stop id): not part of its text
  bool operator==(const TokenEvent&) const = default;
};

// A snapshot for /metrics, /readyz and tests. Counters only grow; gauges return to zero when nothing runs.
struct EngineStats {
  uint64_t steps = 0;
  uint64_t prompt_tokens = 0;      // counter
  uint64_t generated_tokens = 0;   // counter
  uint64_t finished_requests = 0;  // counter, cancelled ones included
  uint64_t cancelled_requests = 0;
  uint32_t running = 0;
  uint32_t waiting = 0;
  uint32_t pages_used = 0;
  uint32_t pages_total = 0;
  uint32_t state_slots_used = 0;
  uint32_t state_slots_total = 0;
  bool operator==(const EngineStats&) const = default;
};

}  // namespace assay::engine
