#pragma once
#include "kernels/attention/runner.h"
#include "kernels/plan/expected.h"

namespace assay::kernels {

// The outputs [rows of all sequences, heads * head_dim], in order of args.sequences, in class w4a32. Earlier
// positions are read from the cache, this call's own from args.k and args.v.
Expected expect_attention(const AttentionProblem& problem, const AttentionArgs& args);

}  // namespace assay::kernels
