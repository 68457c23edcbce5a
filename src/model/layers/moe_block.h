#pragma once
// moe_block: router -> experts -> weighted sum, plus the shared expert. Dense layers are the same without a
// router.
#include "model/layers/linear_group.h"
#include "model/weights.h"

namespace assay::model {

class MoeBlock {
 public:
  MoeBlock(Builder& builder, const FfnSpec& spec, const LayerWeights& weights);

  // x, out: [rows, hidden] dense. `layer` is for the observer.
  void run(PassContext& pass, int layer, const float* x, float* out) const;
  Booking booking(int64_t max_rows, int threads) const;

 private:
  moe::RouterSpec router_spec_;
  LinearGroup router_;
  MoePlan moe_;
  kernels::MoeWeights weights_;
};

}  // namespace assay::model
