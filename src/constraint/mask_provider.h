#pragma once
// MaskProvider: which tokens may come next (structured output). Compiled outside the engine, advanced inside
// it.
#include <cstdint>
#include <span>

namespace assay::constraint {

class MaskProvider {
 public:
  virtual ~MaskProvider() = default;
  // Sets the logits of forbidden tokens to -infinity. logits: [vocab].
  virtual void apply(std::span<float> logits) const = 0;
  // Moves on after `token` was drawn.
  virtual void accept(int32_t token) = 0;
};

}  // namespace assay::constraint
