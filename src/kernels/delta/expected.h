#pragma once
#include "kernels/delta/runner.h"
#include "kernels/plan/expected.h"

namespace assay::kernels {

// The outputs [rows of all sequences, value_heads * value_dim], in order of args.sequences, in class w4a32.
// Incoming states count as exact. state_out is not read.
Expected expect_delta(const DeltaProblem& problem, const DeltaArgs& args);

}  // namespace assay::kernels
