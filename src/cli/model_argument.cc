#include "cli/model_argument.h"

namespace assay::cli {

Result<checkpoint::ModelPath> find_model(const std::string& given) {
  return checkpoint::resolve_model_path(
      given, checkpoint::default_model_places(ASSAY_SOURCE_MODELS, ASSAY_INSTALL_MODELS));
}

}  // namespace assay::cli
