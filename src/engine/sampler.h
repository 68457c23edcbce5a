#pragma once
// Sampler: from one row of logits to one token.
#include <span>
#include <unordered_map>

#include "constraint/mask_provider.h"
#include "engine/request.h"

namespace assay::engine {

// The tokens that penalties look at: how often each occurred in the output, and which occurred in the prompt.
class TokenHistory {
 public:
  TokenHistory(const Request& request);
  void add(TokenId token) { output_[token]++; }
  void penalise(const SamplingParams& params, std::span<float> logits) const;

 private:
  std::unordered_map<TokenId, int> output_;
  std::unordered_map<TokenId, int> prompt_;
};

bool needs_history(const SamplingParams& params);

// Order: ids at or above `token_limit` are excluded (padding rows of the head), logit bias, end tokens before
// min_tokens, penalties, mask; then greedy (ties: lowest id) or temperature, top-k, top-p, min-p and one
// draw. Changes `logits`. Returns kInvalidToken when a logit is NaN or none is finite.
TokenId sample(std::span<float> logits, const SamplingParams& params, int32_t draw_index, int32_t token_limit,
               const TokenHistory* history, const constraint::MaskProvider* mask);

}  // namespace assay::engine
