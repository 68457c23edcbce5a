#pragma once
// Causal grouped-query attention over a paged KV cache.
#include <cstdint>

#include "kernels/plan/problem_text.h"

namespace assay::kernels {

struct AttentionProblem {
  int64_t heads = 0;
  int64_t kv_heads = 0;  // divides heads; query head h reads kv head h / (heads / kv_heads)
  int64_t head_dim = 0;
  int64_t page_size = 0;  // tokens per page
  float scale = 1.0f;     // of the scores, usually head_dim^-0.5
  PrecisionClass precision = PrecisionClass::w4a32;
  bool operator==(const AttentionProblem&) const = default;
  static constexpr const char* kFamily = "attention";
  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit&& visit) {
    visit("heads", self.heads);
    visit("kv_heads", self.kv_heads);
    visit("head_dim", self.head_dim);
    visit("page_size", self.page_size);
    visit("scale", self.scale);
    visit("precision", self.precision);
  }
};

}  // namespace assay::kernels
