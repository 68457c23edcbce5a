#pragma once
// Router: from router logits to a Routing, by the rule of the model family.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/moe/routing.h"

namespace assay::moe {

enum class RouterScore : uint8_t {
  softmax,        // over all experts, before the choice
  softmax_top_k,  // over the chosen experts' logits only
  sigmoid,
};

struct RouterSpec {
  int64_t experts = 0;
  int64_t top_k = 0;
  RouterScore score = RouterScore::softmax;
  bool renormalise = true;         // divide the chosen weights by their sum
  double renormalise_eps = 0;      // added to that sum (1e-20 in sigmoid families)
  std::vector<float> choice_bias;  // added to the scores for choosing only; empty = none
  int64_t groups = 1;      // group-limited choice: a group's score is the sum of its two best experts',
  int64_t top_groups = 1;  // the best `top_groups` groups stay
  float scaling = 1.0f;    // of the final weights
};

// logits: [tokens, experts]. row_mask: empty, or one flag per token; a false row (padding) gets no expert and
// does not count. Ties are broken by the lower index. forced: empty, or the experts [tokens, top_k] to use
// instead of choosing. Weights are computed in double and stored as float.
kernels::Routing route(const RouterSpec& spec, std::span<const float> logits, int64_t tokens,
                       std::span<const bool> row_mask = {}, std::span<const int32_t> forced = {});

}  // namespace assay::moe
