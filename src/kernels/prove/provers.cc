#include "kernels/prove/family_prover.h"

namespace assay::kernels {

std::span<const FamilyProver* const> family_provers() {
  static const FamilyProver* const kProvers[] = {small_prover(), linear_prover(), attention_prover(),
                                                 delta_prover(), moe_prover()};
  return kProvers;
}

Result<const FamilyProver*> prover_of(std::string_view line) {
  for (const FamilyProver* prover : family_provers()) {
    if (prover->family() == family_of(line)) return prover;
  }
  return Error{fmt::format("problem line {:?}: no kernel family is called {:?}", line, family_of(line))};
}

}  // namespace assay::kernels
