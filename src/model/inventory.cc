#include "model/inventory.h"

namespace assay::model {
namespace {

class Tally {
 public:
  // `share`: part of the matrix that one token reads.
  void add(const std::string& role, const QuantView& view, double share = 1) {
    if (view.codes == nullptr) return;
    TensorClass& c = find(role, std::string(name_of(view.format)));
    const int64_t parameters = view.rows * view.cols;
    c.matrices++;
    c.parameters += parameters;
    c.active_parameters += static_cast<int64_t>(share * static_cast<double>(parameters));
    c.bytes += view.bytes();
  }
  void add(const std::string& role, const std::vector<float>& vector) {
    if (vector.empty()) return;
    const auto n = static_cast<int64_t>(vector.size());
    TensorClass& c = find(role, "f32");
    c.matrices++;
    c.parameters += n;
    c.active_parameters += n;
    c.bytes += 4 * n;
  }
  std::vector<TensorClass> classes;

 private:
  TensorClass& find(const std::string& role, const std::string& format) {
    for (TensorClass& c : classes) {
      if (c.role == role && c.format == format) return c;
    }
    classes.push_back({.role = role, .format = format});
    return classes.back();
  }
};

void add_expert(Tally& tally, const std::string& role, const kernels::ExpertWeights& expert, double share) {
  tally.add(role + " gate", expert.gate, share);
  tally.add(role + " up", expert.up, share);
  tally.add(role + " down", expert.down, share);
}

void add_layer(Tally& tally, const FfnSpec& ffn, const LayerWeights& w) {
  tally.add("norms", w.input_norm);
  tally.add("norms", w.post_norm);
  if (w.attention) {
    tally.add("attention q", w.attention->q);
    tally.add("attention k", w.attention->k);
    tally.add("attention v", w.attention->v);
    tally.add("attention o", w.attention->o);
    tally.add("norms", w.attention->q_norm);
    tally.add("norms", w.attention->k_norm);
  }
  if (w.delta) {
    tally.add("delta qkv", w.delta->qkv);
    tally.add("delta z", w.delta->z);
    tally.add("delta b, a", w.delta->b);
    tally.add("delta b, a", w.delta->a);
    tally.add("delta out", w.delta->out);
    for (const auto* v : {&w.delta->conv, &w.delta->a_log, &w.delta->dt_bias})
      tally.add("delta conv, A, dt", *v);
    tally.add("norms", w.delta->norm);
  }
  tally.add("router", w.router);
  const double share = ffn.router.experts > 0
                           ? static_cast<double>(ffn.router.top_k) / static_cast<double>(ffn.router.experts)
                           : 0;
  for (const auto& expert : w.ffn.experts) add_expert(tally, "expert", expert, share);
  add_expert(tally, ffn.router.experts > 0 ? "shared expert" : "dense MLP", w.ffn.shared, 1);
  tally.add("shared expert's gate", w.ffn.shared_gate);
}

}  // namespace

std::vector<TensorClass> inventory(const ModelSpec& spec, const ModelWeights& weights) {
  Tally tally;
  tally.add("embedding", weights.embedding, 1.0 / static_cast<double>(spec.vocab));
  for (size_t i = 0; i < weights.layers.size(); ++i) add_layer(tally, spec.layers[i].ffn, weights.layers[i]);
  tally.add("norms", weights.final_norm);
  if (weights.head.codes != weights.embedding.codes) tally.add("head", weights.head);
  return tally.classes;
}

}  // namespace assay::model
