#pragma once
// Family: how one kind of published checkpoint is read. Adding a model = one file here + one line in table.cc
// + goldens.
#include <span>
#include <string_view>

#include "checkpoint/weight_binder.h"
#include "model/config.h"
#include "model/spec.h"
#include "model/weights.h"

namespace assay::model {

struct Family {
  std::string_view model_type;  // config.json's
  // Reads the config; problems go to config.refuse().
  ModelSpec (*read_spec)(Config& config);
  // Binds every tensor; problems go to the binder.
  ModelWeights (*bind)(checkpoint::WeightBinder& binder, const ModelSpec& spec);
};

std::span<const Family> families();

// The spec of a config, or an error that lists all problems (unknown model types name the known ones).
struct FamilySpec {
  const Family* family = nullptr;
  ModelSpec spec;
};
Result<FamilySpec> read_spec(Config& config);

}  // namespace assay::model
