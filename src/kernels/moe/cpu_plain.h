#pragma once
#include "kernels/moe/runner.h"

namespace assay::kernels {

const MoeRunner* moe_cpu_plain();

}  // namespace assay::kernels
