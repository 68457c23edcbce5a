#pragma once
#include "kernels/delta/runner.h"

namespace assay::kernels {

const DeltaRunner* delta_reference();

}  // namespace assay::kernels
