#pragma once
#include "kernels/linear/runner.h"

namespace assay::kernels {

const LinearRunner* linear_cpu_plain();

}  // namespace assay::kernels
