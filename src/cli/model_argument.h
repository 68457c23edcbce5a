#pragma once
// The MODEL argument of every subcommand.
#include "checkpoint/model_path.h"

namespace assay::cli {

// `given`: a folder, org/name, or empty for the embedded model.
Result<checkpoint::ModelPath> find_model(const std::string& given);

}  // namespace assay::cli
