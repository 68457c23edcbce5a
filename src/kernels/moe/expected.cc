#include "kernels/moe/expected.h"

#include <map>

#include "kernels/plan/reference_numeric.h"

namespace assay::kernels {
namespace {

using Rows = std::vector<std::vector<double>>;

Rows rows_of(const QuantView& weight) {
  Rows rows;
  for (int64_t n = 0; n < weight.rows; ++n) rows.push_back(reference::weight_row(weight, n));
  return rows;
}

struct Decoded {
  Rows gate, up, down;
  explicit Decoded(const ExpertWeights& e)
      : gate(rows_of(e.gate)), up(rows_of(e.up)), down(rows_of(e.down)) {}
};

// silu has slope at most 1.1; exp, division and product add a few roundings.
Uncertain activate(const Uncertain& gate, const Uncertain& up) {
  const double s = reference::silu(gate.value);
  const double error = 1.1 * gate.error * (std::fabs(up.value) + up.error) + std::fabs(s) * up.error;
  return {s * up.value, error + 8 * kUnitF32 * std::fabs(s * up.value)};
}

std::vector<Uncertain> run_expert(const Decoded& e, std::span<const Uncertain> x) {
  std::vector<Uncertain> active, out;
  for (size_t n = 0; n < e.gate.size(); ++n) {
    active.push_back(activate(uncertain_dot(e.gate[n], x), uncertain_dot(e.up[n], x)));
  }
  for (const auto& row : e.down) out.push_back(uncertain_dot(row, active));
  return out;
}

// sum += (weight +- weight_error) * y
void add_scaled(std::vector<Uncertain>& sum, double weight, double weight_error,
                const std::vector<Uncertain>& y) {
  for (size_t i = 0; i < sum.size(); ++i) {
    sum[i].value += weight * y[i].value;
    sum[i].error += weight * y[i].error + (weight_error + 6 * kUnitF32 * weight) * std::fabs(y[i].value);
  }
}

}  // namespace

Expected expect_moe(const MoeProblem& problem, const MoeArgs& args) {
  const Routing& routing = *args.routing;
  const auto hidden = static_cast<size_t>(problem.hidden);
  std::map<int32_t, Decoded> experts;
  for (int32_t e : routing.expert) {
    if (e >= 0) experts.try_emplace(e, args.weights->experts[static_cast<size_t>(e)]);
  }
  std::vector<Decoded> shared;
  if (problem.shared_intermediate > 0) shared.emplace_back(args.weights->shared);
  Expected expected;
  for (int64_t t = 0; t < routing.tokens; ++t) {
    const auto x = exact({args.x + t * problem.hidden, hidden});
    std::vector<Uncertain> sum(hidden);
    for (int64_t c = 0; c < routing.top_k; ++c) {
      const auto pair = static_cast<size_t>(t * routing.top_k + c);
      if (routing.expert[pair] < 0) continue;
      add_scaled(sum, routing.weight[pair], 0, run_expert(experts.at(routing.expert[pair]), x));
    }
    if (!shared.empty()) {
      Uncertain gate{1, 0};
      if (problem.shared_gate) {
        const std::vector<double> row(args.weights->shared_gate.begin(), args.weights->shared_gate.end());
        const Uncertain logit = uncertain_dot(row, x);
        gate = {reference::sigmoid(logit.value), 0.25 * logit.error};  // sigmoid's slope is at most 1/4
      }
      add_scaled(sum, gate.value, gate.error, run_expert(shared[0], x));
    }
    for (const Uncertain& y : sum) expected.add(y.value, y.error);
  }
  return expected;
}

}  // namespace assay::kernels
