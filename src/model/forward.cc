// The network: embed, then per layer norm -> mixer -> norm -> experts, then norm and head. Written once for
// all families; the residual additions ride in the norms that follow them.
#include "base/check.h"
#include "kernels/cpu/rows.h"
#include "model/model.h"

namespace assay::model {

void Model::forward(const Batch& batch, std::vector<float>& logits, Observer* observer) {
  CHECK(batch.rows() > 0 && batch.rows() <= options_.max_rows, "batch of {} rows, at most {}", batch.rows(),
        options_.max_rows);
  const kernels::CpuContext cpu{*pool_, scratch_.data()};
  PassContext pass{batch, cpu, cache_, workspace_, observer};
  const Workspace::Frame frame(workspace_);
  const int64_t size = batch.rows() * spec_.hidden;
  float* residual = workspace_.take(size);
  float* x = workspace_.take(size);
  float* block = workspace_.take(size);

  embed(batch, residual);
  const float* delta = nullptr;  // the last block's output, not yet in the residual
  for (size_t i = 0; i < layers_.size(); ++i) {
    observe_hidden(pass, static_cast<int>(i), residual, delta);
    add_norm(pass, residual, delta, layers_[i].input_norm, x);
    layers_[i].mixer->run(pass, x, block);
    add_norm(pass, residual, block, layers_[i].post_norm, x);
    layers_[i].ffn->run(pass, static_cast<int>(i), x, block);
    delta = block;
  }
  observe_hidden(pass, static_cast<int>(layers_.size()), residual, delta);
  head(pass, residual, delta, x, logits);
}

void Model::embed(const Batch& batch, float* residual) const {
  for (int64_t r = 0; r < batch.rows(); ++r) {
    const int32_t id = batch.ids[static_cast<size_t>(r)];
    CHECK(id >= 0 && id < spec_.vocab, "token id {} of a vocabulary of {}", id, spec_.vocab);
    float* row = residual + r * spec_.hidden;
    kernels::cpu::decode_row(embedding_, id, row);
    const float factor = kernels::cpu::row_factor(embedding_, id);
    if (factor != 1.0f) {
      for (int64_t i = 0; i < spec_.hidden; ++i) row[i] *= factor;
    }
  }
}

void Model::add_norm(PassContext& pass, float* residual, const float* delta, const std::vector<float>& weight,
                     float* out) const {
  small_.runner->add_norm(small_.problem,
                          {.rows = pass.batch.rows(),
                           .residual = residual,
                           .delta = delta,
                           .weight = weight.data(),
                           .eps = spec_.eps,
                           .out = out},
                          pass.cpu);
}

void Model::head(PassContext& pass, float* residual, const float* delta, float* x,
                 std::vector<float>& logits) const {
  const auto& wanted = pass.batch.logit_rows;
  logits.resize(wanted.size() * static_cast<size_t>(spec_.vocab));
  if (wanted.empty()) return;
  add_norm(pass, residual, delta, final_norm_, x);
  for (size_t i = 0; i < wanted.size(); ++i) {  // ascending, so a row never overwrites one still to be moved
    std::copy_n(x + wanted[i] * spec_.hidden, spec_.hidden, x + static_cast<int64_t>(i) * spec_.hidden);
  }
  const auto rows = static_cast<int64_t>(wanted.size());
  if (pass.observer != nullptr) pass.observer->final_norm({x, static_cast<size_t>(rows * spec_.hidden)});
  head_.run(pass.cpu, rows, x, std::vector{logits.data()});
}

void Model::observe_hidden(PassContext& pass, int index, const float* residual, const float* delta) const {
  if (pass.observer == nullptr) return;
  std::vector<float> sum(residual, residual + pass.batch.rows() * spec_.hidden);
  if (delta != nullptr) kernels::cpu::add_scaled(1.0f, delta, sum.data(), static_cast<int64_t>(sum.size()));
  pass.observer->hidden(index, sum);
}

}  // namespace assay::model
