#pragma once
// From a model folder to a Model: config, family, tensors, plans, packed weights. The mapped files are
// released at the end.
#include <functional>
#include <memory>
#include <string>

#include "checkpoint/checkpoint.h"
#include "model/families/family.h"
#include "model/model.h"

namespace assay::model {

// Everything known before a weight is packed. The views in `weights` point into `checkpoint` and `binder`.
struct OpenModel {
  FamilySpec family;
  std::unique_ptr<checkpoint::Checkpoint> checkpoint;
  std::unique_ptr<checkpoint::WeightBinder> binder;
  ModelWeights weights;
};

// Config and tensors, all problems in one error. Refuses what is not supported before any weight is read.
Result<OpenModel> open_model(const std::string& folder);

// Refuses a context longer than the model was made for.
Result<void> check_context(int64_t context, const ModelSpec& spec);

// How `options.quantization` (SGLang's names: modelopt_fp4, compressed-tensors, mxfp4, fp8, none, ...) fits
// the tensors.
Result<void> check_quantization(const std::string& wanted, const ModelWeights& weights);

Result<std::unique_ptr<Model>> load_model(const std::string& folder, const ModelOptions& options,
                                          const std::function<void(double)>& progress = {});

}  // namespace assay::model
