#pragma once
// Gated DeltaNet: causal depthwise convolution, gated delta rule, gated norm.
//
// Per token: u = silu(conv(qkv)); q, k = l2norm(u's heads), q *= key_dim^-0.5; value head h reads key head
// h / (value_heads / key_heads); beta = sigmoid(b); g = -exp(A_log) * softplus(a + dt_bias); then
//   S <- e^g S;  d = beta (v - S^T k);  S <- S + k d^T;  o = S^T q;  y = rms_norm(o) * norm_weight * silu(z).
// Source: Yang et al., "Gated Delta Networks" (2024); the form of transformers' Qwen3-Next and Qwen3.5.
#include <cstdint>

#include "kernels/plan/problem_text.h"

namespace assay::kernels {

struct DeltaProblem {
  int64_t key_heads = 0;
  int64_t value_heads = 0;
  int64_t key_dim = 0;
  int64_t value_dim = 0;
  int64_t conv_width = 4;
  float eps = 1e-6f;  // of the gated norm
  PrecisionClass precision = PrecisionClass::w4a32;
  bool operator==(const DeltaProblem&) const = default;
  static constexpr const char* kFamily = "delta";
  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit&& visit) {
    visit("key_heads", self.key_heads);
    visit("value_heads", self.value_heads);
    visit("key_dim", self.key_dim);
    visit("value_dim", self.value_dim);
    visit("conv_width", self.conv_width);
    visit("eps", self.eps);
    visit("precision", self.precision);
  }

  int64_t channels() const { return 2 * key_heads * key_dim + value_heads * value_dim; }
  // State of one sequence in floats: conv history [channels][conv_width - 1], oldest first, then
  // S [value_heads][value_dim][key_dim].
  int64_t history_floats() const { return channels() * (conv_width - 1); }
  int64_t state_floats() const { return history_floats() + value_heads * value_dim * key_dim; }
};

}  // namespace assay::kernels
