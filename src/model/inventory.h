#pragma once
// Inventory: a model's matrices by role, for reports.
#include <cstdint>
#include <string>
#include <vector>

#include "model/spec.h"
#include "model/weights.h"

namespace assay::model {

struct TensorClass {
  std::string role;    // "attention q", "expert gate", ...
  std::string format;  // as stored
  int64_t matrices = 0;
  int64_t parameters = 0;
  int64_t active_parameters = 0;  // read for one token: top-k of the experts, one row of the embedding
  int64_t bytes = 0;
};

// One line per (role, format), in the order of the network.
std::vector<TensorClass> inventory(const ModelSpec& spec, const ModelWeights& weights);

}  // namespace assay::model
