#pragma once
// Observer: looks into a forward pass (assay verify, tests). None in service.
#include <span>

#include "kernels/moe/routing.h"

namespace assay::model {

class Observer {
 public:
  virtual ~Observer() = default;
  // The residual stream [rows, hidden]: index 0 = embedding, i + 1 = after layer i.
  virtual void hidden(int /*index*/, std::span<const float> /*residual*/) {}
  virtual void final_norm(std::span<const float> /*normed*/) {}  // [rows that want logits, hidden]
  virtual void router(int /*layer*/, std::span<const float> /*logits*/, const kernels::Routing&) {}
  // Expert ids [rows * top_k] to use instead of the router's own choice, or empty.
  virtual std::span<const int32_t> forced_experts(int /*layer*/) { return {}; }
};

}  // namespace assay::model
