// Who can run the expert block, in order. Adding a backend = its file + one line here.
#include <fmt/format.h>

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

std::string to_string(const MoeProblem& p) {
  return fmt::format("moe{{hidden {}, {} experts of {} top-{}, shared {}{}, {}, {}}}", p.hidden, p.experts,
                     p.intermediate, p.top_k, p.shared_intermediate, p.shared_gate ? " gated" : "",
                     name_of(p.format), name_of(p.precision));
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
