#pragma once
// LinearGroup: matrices that read the same input, multiplied in as few calls as their formats allow.
#include <span>
#include <vector>

#include "model/layers/builder.h"
#include "model/layers/context.h"

namespace assay::model {

class LinearGroup {
 public:
  LinearGroup() = default;
  // All matrices have the same number of columns.
  LinearGroup(Builder& builder, std::span<const QuantView> weights);

  // outputs[i]: [rows, weights[i].rows] dense. x: [rows, columns] dense.
  void run(const kernels::CpuContext& cpu, int64_t rows, const float* x,
           std::span<float* const> outputs) const;
  size_t scratch_bytes(int64_t max_rows, int threads) const;

 private:
  struct Call {
    LinearPlan plan;
    std::vector<size_t> members;
  };
  std::vector<QuantView> weights_;
  std::vector<Call> calls_;
};

}  // namespace assay::model
