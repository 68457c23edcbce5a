#pragma once
#include "kernels/moe/runner.h"

namespace assay::kernels {

const MoeRunner* moe_reference();

}  // namespace assay::kernels
