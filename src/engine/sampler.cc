#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/draw.h"
#include "engine/step.h"

namespace assay::engine {
namespace {

constexpr float kExcluded = -INFINITY;

void exclude(std::span<float> logits, std::span<const TokenId> ids) {
  for (TokenId id : ids) {
    if (id >= 0 && static_cast<size_t>(id) < logits.size()) logits[static_cast<size_t>(id)] = kExcluded;
  }
}

struct Candidate {
  TokenId id;
  double weight;  // logit / temperature, then exp of its distance to the largest
};

// Falling weight, then rising id: one order for every machine.
bool before(const Candidate& a, const Candidate& b) {
  return a.weight > b.weight || (a.weight == b.weight && a.id < b.id);
}

std::vector<Candidate> candidates_of(std::span<const float> logits, const SamplingParams& p) {
  std::vector<Candidate> all;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] != kExcluded)
      all.push_back({static_cast<TokenId>(i), logits[i] / static_cast<double>(p.temperature)});
  }
  const bool cut = p.top_k > 0 && static_cast<size_t>(p.top_k) < all.size();
  if (cut) {
    std::partial_sort(all.begin(), all.begin() + p.top_k, all.end(), before);
    all.resize(static_cast<size_t>(p.top_k));
  } else if (p.top_p < 1.0f) {
    std::sort(all.begin(), all.end(), before);
  }
  double largest = -INFINITY;
  for (const Candidate& c : all) largest = std::max(largest, c.weight);
  for (Candidate& c : all) c.weight = std::exp(c.weight - largest);
  return all;
}

double total_weight(const std::vector<Candidate>& candidates) {
  double total = 0;
  for (const Candidate& c : candidates) total += c.weight;
  return total;
}

TokenId draw(std::span<const float> logits, const SamplingParams& p, int32_t draw_index) {
  std::vector<Candidate> candidates = candidates_of(logits, p);
  if (candidates.empty()) return kInvalidToken;
  if (p.top_p < 1.0f) {  // sorted: keep the shortest head that holds top_p of the mass
    const double enough = static_cast<double>(p.top_p) * total_weight(candidates);
    double mass = 0;
    size_t keep = 0;
    while (keep < candidates.size() && (keep == 0 || mass < enough)) mass += candidates[keep++].weight;
    candidates.resize(keep);
  }
  // The largest weight is 1, so min_p is a share of the most likely token's probability.
  if (p.min_p > 0) std::erase_if(candidates, [&](const Candidate& c) { return c.weight < p.min_p; });
  const double target =
      uniform_draw(p.seed, p.choice_index, static_cast<uint64_t>(draw_index), DrawPurpose::sample) *
      total_weight(candidates);
  double mass = 0;
  for (const Candidate& c : candidates) {
    mass += c.weight;
    if (target < mass) return c.id;
  }
  return candidates.back().id;
}

}  // namespace

TokenHistory::TokenHistory(const Request& request) {
  for (TokenId t : request.prompt) prompt_[t]++;
  for (TokenId t : request.emitted) output_[t]++;
}

void TokenHistory::penalise(const SamplingParams& p, std::span<float> logits) const {
  const auto repeat = [&](TokenId id) {
    float& logit = logits[static_cast<size_t>(id)];
    logit = logit > 0 ? logit / p.repetition_penalty : logit * p.repetition_penalty;
  };
  if (p.repetition_penalty != 1.0f) {
    for (const auto& [id, count] : prompt_) repeat(id);
    for (const auto& [id, count] : output_) {
      if (!prompt_.contains(id)) repeat(id);
    }
  }
  for (const auto& [id, count] : output_) {
    logits[static_cast<size_t>(id)] -= p.presence_penalty + p.frequency_penalty * static_cast<float>(count);
  }
}

bool needs_history(const SamplingParams& p) {
  return p.repetition_penalty != 1.0f || p.presence_penalty != 0.0f || p.frequency_penalty != 0.0f;
}

TokenId sample(std::span<float> logits, const SamplingParams& params, int32_t draw_index, int32_t token_limit,
               const TokenHistory* history, const constraint::MaskProvider* mask) {
  logits = logits.first(std::min(logits.size(), static_cast<size_t>(token_limit)));
  if (std::any_of(logits.begin(), logits.end(), [](float x) { return std::isnan(x) || x == INFINITY; }))
    return kInvalidToken;
  for (const auto& [id, bias] : params.logit_bias) {
    if (id >= 0 && static_cast<size_t>(id) < logits.size()) logits[static_cast<size_t>(id)] += bias;
  }
  if (draw_index < params.min_tokens) {
    exclude(logits, params.eos_ids);
    exclude(logits, params.stop_ids);
  }
  if (history != nullptr) history->penalise(params, logits);
  if (mask != nullptr) mask->apply(logits);
  if (params.temperature > 0) return draw(logits, params, draw_index);
  const auto best = std::max_element(logits.begin(), logits.end());
  return *best == kExcluded ? kInvalidToken : static_cast<TokenId>(best - logits.begin());
}

}  // namespace assay::engine
