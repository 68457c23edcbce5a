#pragma once
// From what a user typed to a folder with a model: a folder, a Hugging Face name looked up in the local
// cache, or nothing for the embedded model.
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::checkpoint {

// Where models are looked for.
struct ModelPlaces {
  std::vector<std::string> embedded;  // folders tried in order when no model is named
  std::string hub;  // the cache of Hugging Face: $HF_HOME/hub, else ~/.cache/huggingface/hub
};
// From the environment and the place of this program; `source` and `install` hold a folder `tiny`.
ModelPlaces default_model_places(const std::string& source, const std::string& install);

struct ModelPath {
  std::string folder;
  std::string name;  // how the user would call it: the folder's last part, or org/name
};
Result<ModelPath> resolve_model_path(const std::string& given, const ModelPlaces& places);

}  // namespace assay::checkpoint
