#pragma once
// Model: a network with its packed weights, its plans and its cache memory. One caller at a time.
#include <memory>
#include <vector>

#include "base/threads.h"
#include "cache/layout.h"
#include "model/layers/attention_block.h"
#include "model/layers/delta_block.h"
#include "model/layers/moe_block.h"

namespace assay::model {

// Bytes per page and per state slot of a model with this spec.
cache::CacheLayout cache_layout(const ModelSpec& spec, int64_t page_size);

class Model {
 public:
  // Copies the weights into the runners' layouts; `progress` gets the fraction done. Fails when a problem has
  // no runner.
  static Result<std::unique_ptr<Model>> build(const ModelSpec& spec, const ModelWeights& weights,
                                              const ModelOptions& options,
                                              const std::function<void(double)>& progress = {});

  // Runs the batch; its logits go to `logits` [batch.logit_rows, vocab]. CHECKs that the batch fits.
  void forward(const Batch& batch, std::vector<float>& logits, Observer* observer = nullptr);

  const ModelSpec& spec() const { return spec_; }
  const ModelOptions& options() const { return options_; }
  CacheMemory& cache() { return cache_; }
  const std::vector<PlanLine>& plans() const { return plans_; }
  int64_t packed_bytes() const { return static_cast<int64_t>(arena_.allocated_bytes()); }
  int64_t context() const { return options_.context; }

 private:
  struct Layer {
    std::vector<float> input_norm, post_norm;
    std::unique_ptr<MixerBlock> mixer;
    std::unique_ptr<MoeBlock> ffn;
  };

  Model(const ModelSpec& spec, const ModelOptions& options);
  Result<void> build_layers(const ModelWeights& weights, const std::function<void(double)>& progress);
  void book_memory();
  void embed(const Batch& batch, float* residual) const;
  void add_norm(PassContext& pass, float* residual, const float* delta, const std::vector<float>& weight,
                float* out) const;
  void head(PassContext& pass, float* residual, const float* delta, float* x,
            std::vector<float>& logits) const;
  void observe_hidden(PassContext& pass, int index, const float* residual, const float* delta) const;

  ModelSpec spec_;
  ModelOptions options_;
  Arena arena_;
  QuantView embedding_;
  std::vector<Layer> layers_;
  std::vector<float> final_norm_;
  LinearGroup head_;
  SmallPlan small_;
  std::vector<PlanLine> plans_;
  CacheMemory cache_;
  Workspace workspace_;
  LazyBuffer scratch_;
  std::unique_ptr<ThreadPool> pool_;
};

}  // namespace assay::model
