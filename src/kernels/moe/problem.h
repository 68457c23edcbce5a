#pragma once
// The expert block: y = sum over the chosen experts of w_e * E_e(x), plus the shared expert where there is
// one. E(x) = down(silu(gate x) * (up x)). A dense MLP is the same block with no routed experts and an
// ungated shared one.
#include <cstdint>

#include "kernels/plan/problem_text.h"

namespace assay::kernels {

enum class Activation : uint8_t { silu };

std::string field_text(Activation value);
bool parse_field(std::string_view text, Activation* value);

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
  static constexpr const char* kFamily = "moe";
  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit&& visit) {
    visit("hidden", self.hidden);
    visit("intermediate", self.intermediate);
    visit("experts", self.experts);
    visit("top_k", self.top_k);
    visit("shared", self.shared_intermediate);
    visit("shared_gate", self.shared_gate);
    visit("activation", self.activation);
    visit("format", self.format);
    visit("precision", self.precision);
  }
};

}  // namespace assay::kernels
