#pragma once
// Golden: reference outputs stored beside a checkpoint (golden.json + golden.safetensors).
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/safetensors.h"

namespace assay::model {

struct GoldenPrompt {
  std::string name;
  std::vector<int32_t> ids;
  std::vector<int32_t> greedy_ids;
  std::vector<double> greedy_margin;  // top-1 minus top-2 logit at each greedy step
  // Error of a BF16 run of the reference, whichever is stored.
  std::optional<double> bf16_mean, bf16_median, bf16_p99;
};

class Golden {
 public:
  static Result<Golden> load(const std::string& folder);

  const std::vector<GoldenPrompt>& prompts() const { return prompts_; }
  // A float tensor as [rows, columns] (a vector is one row), or nullopt when it is not stored.
  struct Matrix {
    int64_t rows = 0, columns = 0;
    std::vector<float> values;
  };
  std::optional<Matrix> matrix(const std::string& name) const;
  std::optional<std::vector<int32_t>> integers(const std::string& name) const;

 private:
  Golden(std::vector<GoldenPrompt> prompts, checkpoint::SafetensorsFile file)
      : prompts_(std::move(prompts)), file_(std::move(file)) {}
  const checkpoint::TensorEntry* find(const std::string& name) const;

  std::vector<GoldenPrompt> prompts_;
  checkpoint::SafetensorsFile file_;
};

}  // namespace assay::model
