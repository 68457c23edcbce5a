#pragma once
#include "kernels/linear/runner.h"

namespace assay::kernels {

const LinearRunner* linear_reference();

}  // namespace assay::kernels
