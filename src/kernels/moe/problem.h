#pragma once
// The expert block: y = sum over the chosen experts of w_e * E_e(x), plus the shared expert where there is
// one. E(x) = down(silu(gate x) * (up x)). A dense MLP is the same block with no routed experts and an
// ungated shared one.
#include <cstdint>
#include <string>

#include "kernels/plan/precision.h"
#include "tensor/quant_view.h"

namespace assay::kernels {

enum class Activation : uint8_t { silu };

struct MoeProblem {
  int64_t hidden = 0;
  int64_t intermediate = 0;  // of a routed expert
  int64_t experts = 0;
  int64_t top_k = 0;
  int64_t shared_intermediate = 0;  // 0 = no shared expert
  bool shared_gate = false;         // shared output is multiplied by sigmoid(x . gate)
  Activation activation = Activation::silu;
  WeightFormat format = WeightFormat::bf16;  // of the routed experts
  PrecisionClass precision = PrecisionClass::w4a32;
  bool operator==(const MoeProblem&) const = default;
};

std::string to_string(const MoeProblem& problem);

}  // namespace assay::kernels
