#include "model/layers/linear_group.h"

namespace assay::model {

LinearGroup::LinearGroup(Builder& builder, std::span<const QuantView> weights) {
  for (const QuantView& weight : weights) {
    size_t c = 0;
    while (c < calls_.size() && calls_[c].plan.problem.format != weight.format) ++c;
    if (c == calls_.size()) {
      const kernels::LinearProblem problem{
          .inputs = weight.cols, .format = weight.format, .precision = builder.options.precision};
      calls_.push_back(
          {builder.plan(kernels::linear_runners(), problem, builder.options.linear_backend), {}});
    }
    const auto* runner = calls_[c].plan.runner;
    calls_[c].members.push_back(weights_.size());
    weights_.push_back(runner == nullptr ? weight : runner->pack(weight, builder.arena));
  }
}

void LinearGroup::run(const kernels::CpuContext& cpu, int64_t rows, const float* x,
                      std::span<float* const> outputs) const {
  for (const Call& call : calls_) {
    std::vector<kernels::LinearPart> parts;
    for (size_t i : call.members) parts.push_back({&weights_[i], outputs[i], weights_[i].rows});
    const int64_t inputs = call.plan.problem.inputs;
    call.plan.runner->run(call.plan.problem, {.rows = rows, .x = x, .x_stride = inputs, .parts = parts}, cpu);
  }
}

size_t LinearGroup::scratch_bytes(int64_t max_rows, int threads) const {
  size_t bytes = 0;
  for (const Call& call : calls_) {
    if (call.plan.runner == nullptr) continue;
    bytes = std::max(bytes, call.plan.runner->scratch_bytes(call.plan.problem, max_rows, threads));
  }
  return bytes;
}

}  // namespace assay::model
