#pragma once
#include "kernels/small/runner.h"

namespace assay::kernels {

const SmallRunner* small_cpu_plain();

}  // namespace assay::kernels
