#pragma once
#include "kernels/attention/runner.h"

namespace assay::kernels {

const AttentionRunner* attention_reference();

}  // namespace assay::kernels
