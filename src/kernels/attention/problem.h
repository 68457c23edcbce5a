#pragma once
// Causal grouped-query attention over a paged KV cache.
#include <cstdint>
#include <string>

#include "kernels/plan/precision.h"

namespace assay::kernels {

struct AttentionProblem {
  int64_t heads = 0;
  int64_t kv_heads = 0;  // divides heads; query head h reads kv head h / (heads / kv_heads)
  int64_t head_dim = 0;
  int64_t page_size = 0;  // tokens per page
  float scale = 1.0f;     // of the scores, usually head_dim^-0.5
  PrecisionClass precision = PrecisionClass::w4a32;
  bool operator==(const AttentionProblem&) const = default;
};

std::string to_string(const AttentionProblem& problem);

}  // namespace assay::kernels
