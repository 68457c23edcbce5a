#pragma once
#include "kernels/small/runner.h"

namespace assay::kernels {

const SmallRunner* small_reference();

}  // namespace assay::kernels
