#pragma once
// WeightBinder: a family's way to its tensors. Each request says what is expected; what differs is collected,
// so that one load reports every problem. At the end each tensor of the checkpoint was taken, skipped by a
// named rule, or is an error.
//
// The format of a matrix is decided by the tensors present (dtype + companions), never by a config list:
//   weight BF16/F16/F32                                              plain
//   weight U8 + weight_scale E4M3 + weight_scale_2 (+ input_scale)   NVFP4, ModelOpt
//   weight_packed U8 + weight_scale E4M3 + weight_global_scale (+ input_global_scale)   NVFP4,
//   compressed-tensors weight E4M3 + weight_scale scalar | [N] | [N,1] (+ input_scale)  FP8 per tensor | per
//   channel weight E4M3 + weight_scale_inv [ceil(N/128), ceil(K/128)]        FP8 128x128 weight_packed U8 +
//   weight_scale U8/E8M0 [N, K/32], or MODULE_blocks + MODULE_scales   MXFP4
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/arena.h"
#include "checkpoint/checkpoint.h"
#include "tensor/quant_view.h"

namespace assay::checkpoint {

class WeightBinder {
 public:
  explicit WeightBinder(const Checkpoint& checkpoint);

  bool has(const std::string& name) const { return checkpoint_.find(name) >= 0; }
  // Is there a matrix of this module, in whatever format?
  bool has_module(const std::string& module) const {
    return has(module + ".weight") || has(module + ".weight_packed");
  }
  // A weight matrix of module `module` ("a.b.q_proj"), [rows, cols]. On a problem an empty view is returned.
  QuantView linear(const std::string& module, int64_t rows, int64_t cols);
  // Experts stacked in one unquantised tensor `name` [experts, rows, cols]; one view per expert.
  std::vector<QuantView> stacked(const std::string& name, int64_t experts, int64_t rows, int64_t cols);
  // A float tensor with this many elements, converted to FP32; the stored shape may carry extra 1s.
  std::vector<float> floats(const std::string& name, const std::vector<int64_t>& shape);
  // Like floats with shape [], but absent is fine.
  std::optional<float> optional_scalar(const std::string& name);

  // Tensors that start with `prefix` / end with `suffix` are not loaded; `rule` says why, and is counted.
  void skip_prefix(const std::string& prefix, const std::string& rule);
  void skip_suffix(const std::string& suffix, const std::string& rule);

  void add_problem(std::string problem);  // the first 200 are listed, the rest counted
  // Ends the binding: the error lists every problem found.
  Result<void> finish();

  // What was bound: format -> bytes, for reports. Skipped tensors: rule -> count and bytes.
  struct Tally {
    int64_t tensors = 0;
    int64_t bytes = 0;
  };
  const std::map<std::string, Tally>& skipped() const { return skipped_; }

 private:
  template <class Matches>
  void skip_if(const Matches& matches, const std::string& rule);
  const NamedTensor* take(const std::string& name);
  const NamedTensor* expect(const std::string& name, const std::vector<DType>& types,
                            const std::vector<std::vector<int64_t>>& shapes);
  std::optional<float> scalar(const std::string& name, bool positive);
  QuantView plain(const std::string& module, QuantView view);
  QuantView nvfp4(const std::string& module, const std::string& codes_suffix, std::optional<float> global,
                  QuantView view);
  QuantView nvfp4_modelopt(const std::string& module, QuantView view);
  QuantView nvfp4_compressed(const std::string& module, QuantView view);
  QuantView mxfp4(const std::string& codes, const std::string& scales, QuantView view);
  QuantView fp8(const std::string& module, QuantView view);
  const std::byte* scales_as_float(const NamedTensor& tensor);
  void check_whole_blocks(const std::string& what, int64_t cols, int64_t block);
  void check_scale_bytes(const NamedTensor& scales);
  QuantView refuse(const std::string& module, int64_t rows, int64_t cols);

  const Checkpoint& checkpoint_;
  std::vector<bool> taken_;
  std::vector<std::string> problems_;
  size_t problem_count_ = 0;
  std::map<std::string, Tally> skipped_;
  Arena converted_;  // scales that had to be converted to float live as long as the binder
};

}  // namespace assay::checkpoint
