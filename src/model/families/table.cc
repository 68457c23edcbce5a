// The family table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "model/families/family.h"
#include "model/families/mixtral.h"
#include "model/families/qwen3_5_moe.h"
#include "model/families/qwen3_moe.h"

namespace assay::model {

std::span<const Family> families() {
  static const Family kFamilies[] = {
      {"qwen3_5_moe", qwen3_5_moe::read_spec, qwen3_5_moe::bind},
      {"qwen3_moe", qwen3_moe::read_spec, qwen3_moe::bind},
      {"mixtral", mixtral::read_spec, mixtral::bind},
  };
  return kFamilies;
}

Result<FamilySpec> read_spec(Config& config) {
  std::vector<std::string_view> known;
  for (const Family& family : families()) {
    known.push_back(family.model_type);
    if (config.model_type() != family.model_type) continue;
    FamilySpec result{&family, family.read_spec(config)};
    result.spec.family = family.model_type;
    result.spec.architecture = config.architecture();
    if (auto finished = config.finish(); !finished) return finished.error();
    return result;
  }
  return Error{fmt::format("config.json: model_type {:?} (architecture {:?}) is not supported; supported: {}",
                           config.model_type(), config.architecture(), fmt::join(known, ", "))};
}

}  // namespace assay::model
