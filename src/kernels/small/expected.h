#pragma once
#include "kernels/plan/expected.h"
#include "kernels/small/runner.h"

namespace assay::kernels {

// Outputs in class w4a32. `args` holds the inputs as they are before the call.
Expected expect_add_norm(const SmallProblem& problem, const AddNormArgs& args);  // [rows, hidden]
Expected expect_norm_rope(const NormRopeArgs& args);                             // [rows, heads, head_dim]
Expected expect_gate(const GateArgs& args);                                      // [rows, heads, head_dim]

}  // namespace assay::kernels
