#pragma once
// Checkpoint: the tensors of a model folder by name. Either model.safetensors, or the files that
// model.safetensors.index.json names; any other .safetensors file in the folder is left alone.
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "checkpoint/safetensors.h"

namespace assay::checkpoint {

struct NamedTensor {
  std::string name;
  TensorView view;
  int file = 0;  // index for Checkpoint::file_name
};

class Checkpoint {
 public:
  // All that is wrong with the folder's files comes in one error.
  static Result<Checkpoint> open(const std::string& folder);

  const std::vector<NamedTensor>& tensors() const { return tensors_; }
  // Index into tensors(), or -1.
  int find(std::string_view name) const;
  std::string file_name(int file) const;  // without the folder
  int64_t bytes() const;                  // of all tensors

 private:
  Result<void> add_file(const std::string& folder, const std::string& file);

  std::vector<SafetensorsFile> files_;
  std::vector<NamedTensor> tensors_;
  std::unordered_map<std::string_view, int> by_name_;
};

}  // namespace assay::checkpoint
