#pragma once
#include "kernels/moe/runner.h"
#include "kernels/plan/expected.h"

namespace assay::kernels {

// The outputs [tokens, hidden] of the expert block in class w4a32, from the weights as stored. The routing is
// given: the router is judged apart.
Expected expect_moe(const MoeProblem& problem, const MoeArgs& args);

}  // namespace assay::kernels
