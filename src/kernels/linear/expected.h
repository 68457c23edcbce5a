#pragma once
#include "kernels/linear/runner.h"
#include "kernels/plan/expected.h"

namespace assay::kernels {

// The outputs [args.rows, part.weight->rows] of one part of a call, in class w4a32.
Expected expect_linear(const LinearArgs& args, const LinearPart& part);

}  // namespace assay::kernels
