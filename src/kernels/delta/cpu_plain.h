#pragma once
#include "kernels/delta/runner.h"

namespace assay::kernels {

const DeltaRunner* delta_cpu_plain();

}  // namespace assay::kernels
