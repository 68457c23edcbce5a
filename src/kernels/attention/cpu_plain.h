#pragma once
#include "kernels/attention/runner.h"

namespace assay::kernels {

const AttentionRunner* attention_cpu_plain();

}  // namespace assay::kernels
