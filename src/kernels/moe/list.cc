// Who can run the expert block, in order. Adding a backend = its file + one line here.
#include "kernels/moe/cpu_plain.h"
#include "kernels/moe/reference.h"
#include "kernels/moe/runner.h"
#include "kernels/plan/checkpoint_layout.h"
#include "kernels/plan/reasons.h"

namespace assay::kernels {

std::span<const MoeRunner* const> moe_runners() {
  static const MoeRunner* const kRunners[] = {
      moe_cpu_plain(),
      moe_reference(),
  };
  return kRunners;
}

std::string field_text(Activation) {
  return "silu";
}
bool parse_field(std::string_view text, Activation* value) {
  *value = Activation::silu;
  return text == "silu";
}

Verdict check_shapes(const MoeProblem& p) {
  const Verdict hidden = reasons::whole_blocks(p.format, "hidden size", p.hidden);
  return hidden ? reasons::whole_blocks(p.format, "intermediate size", p.intermediate) : hidden;
}

MoeWeights pack_experts_as_stored(const MoeWeights& weights, Arena& arena) {
  const auto pack = [&](const ExpertWeights& e) {
    return ExpertWeights{pack_as_stored(e.gate, arena), pack_as_stored(e.up, arena),
                         pack_as_stored(e.down, arena)};
  };
  MoeWeights packed;
  for (const ExpertWeights& e : weights.experts) packed.experts.push_back(pack(e));
  if (weights.shared.gate.codes != nullptr) packed.shared = pack(weights.shared);
  packed.shared_gate = weights.shared_gate;
  return packed;
}

}  // namespace assay::kernels
