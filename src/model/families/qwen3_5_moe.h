#pragma once
#include "model/families/family.h"

namespace assay::model::qwen3_5_moe {

ModelSpec read_spec(Config& config);
ModelWeights bind(checkpoint::WeightBinder& binder, const ModelSpec& spec);

}  // namespace assay::model::qwen3_5_moe
