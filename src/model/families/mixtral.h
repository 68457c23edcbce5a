#pragma once
#include "model/families/family.h"

namespace assay::model::mixtral {

ModelSpec read_spec(Config& config);
ModelWeights bind(checkpoint::WeightBinder& binder, const ModelSpec& spec);

}  // namespace assay::model::mixtral
