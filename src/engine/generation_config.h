#pragma once
// GenerationConfig: the sampling defaults and end tokens that a model's files name.
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/request.h"

namespace assay::engine {

struct GenerationConfig {
  // Only what the files say; absent fields keep the API's defaults.
  std::optional<float> temperature;  // 0 when do_sample is false
  std::optional<float> top_p;
  std::optional<float> min_p;
  std::optional<int32_t> top_k;
  std::optional<float> repetition_penalty;
  std::vector<TokenId> eos_ids;  // union of config.json (text_config too) and generation_config.json, sorted
  int32_t context_length = 0;    // max_position_embeddings of config.json; 0 if it does not say
  int32_t vocab_size = 0;        // of config.json; 0 if it does not say
  std::string eos_token, bos_token;  // texts named by tokenizer_config.json; empty if none
  bool add_bos_token = false;        // tokenizer_config.json
};

// Reads config.json (required), generation_config.json and tokenizer_config.json (optional) of a model's
// folder.
Result<GenerationConfig> load_generation_config(const std::string& model_dir);

}  // namespace assay::engine
