#include "model/layers/moe_block.h"

namespace assay::model {
namespace {

// The format that the plan is made for: the routed experts', or in a dense layer the shared one's.
WeightFormat format_of(const kernels::MoeWeights& weights) {
  return weights.experts.empty() ? weights.shared.gate.format : weights.experts.front().gate.format;
}

}  // namespace

MoeBlock::MoeBlock(Builder& builder, const FfnSpec& spec, const LayerWeights& weights)
    : router_spec_(spec.router) {
  if (spec.router.experts > 0) router_ = LinearGroup(builder, std::vector{weights.router});
  const kernels::MoeProblem problem{.hidden = builder.spec.hidden,
                                    .intermediate = spec.intermediate,
                                    .experts = spec.router.experts,
                                    .top_k = spec.router.top_k,
                                    .shared_intermediate = spec.shared_intermediate,
                                    .shared_gate = spec.shared_gate,
                                    .format = format_of(weights.ffn),
                                    .precision = builder.options.precision};
  moe_ = builder.plan(kernels::moe_runners(), problem, builder.options.moe_backend);
  if (moe_.runner != nullptr) weights_ = moe_.runner->pack(weights.ffn, builder.arena);
}

void MoeBlock::run(PassContext& pass, int layer, const float* x, float* out) const {
  const Workspace::Frame frame(pass.workspace);
  const int64_t rows = pass.batch.rows();
  kernels::Routing routing{.tokens = rows};
  kernels::group_by_expert(routing, 0);
  if (router_spec_.experts > 0) {
    const std::span logits(pass.workspace.take(rows * router_spec_.experts),
                           static_cast<size_t>(rows * router_spec_.experts));
    router_.run(pass.cpu, rows, x, std::vector{logits.data()});
    const auto forced =
        pass.observer != nullptr ? pass.observer->forced_experts(layer) : std::span<const int32_t>{};
    routing = moe::route(router_spec_, logits, rows, {}, forced);
    if (pass.observer != nullptr) pass.observer->router(layer, logits, routing);
  }
  moe_.runner->run(moe_.problem, {.weights = &weights_, .routing = &routing, .x = x, .out = out}, pass.cpu);
}

Booking MoeBlock::booking(int64_t max_rows, int threads) const {
  return {.floats_per_row = router_spec_.experts,
          .scratch_bytes = std::max(router_.scratch_bytes(max_rows, threads),
                                    moe_.runner->scratch_bytes(moe_.problem, max_rows, threads))};
}

}  // namespace assay::model
