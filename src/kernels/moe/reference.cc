// What the expert block means: token by token, expert by expert, fp64 sums in written order.
#include "kernels/moe/reference.h"

#include "kernels/plan/reference_numeric.h"

namespace assay::kernels {
namespace {

using Row = std::vector<double>;

std::vector<Row> rows_of(const QuantView& weight) {
  std::vector<Row> rows;
  for (int64_t n = 0; n < weight.rows; ++n) rows.push_back(reference::weight_row(weight, n));
  return rows;
}

// One expert with its weights decoded.
class Expert {
 public:
  Expert(const ExpertWeights& weights, PrecisionClass precision)
      : weights_(weights),
        precision_(precision),
        gate_(rows_of(weights.gate)),
        up_(rows_of(weights.up)),
        down_(rows_of(weights.down)) {}

  Row operator()(std::span<const float> x) const {
    const auto gate_in = reference::matrix_input(x, weights_.gate, precision_);
    const auto up_in = reference::matrix_input(x, weights_.up, precision_);
    std::vector<float> active;
    for (size_t n = 0; n < gate_.size(); ++n) {
      const float gate = reference::round_result(reference::dot(gate_[n], gate_in), precision_);
      const float up = reference::round_result(reference::dot(up_[n], up_in), precision_);
      active.push_back(reference::round_result(reference::silu(gate) * up, precision_));
    }
    const auto down_in = reference::matrix_input(active, weights_.down, precision_);
    Row out;
    for (const Row& row : down_)
      out.push_back(reference::round_result(reference::dot(row, down_in), precision_));
    return out;
  }

 private:
  const ExpertWeights& weights_;
  PrecisionClass precision_;
  std::vector<Row> gate_, up_, down_;
};

class Reference final : public MoeRunner {
 public:
  std::string_view name() const override { return "reference"; }
  Determinism determinism() const override { return Determinism::row_invariant; }
  Verdict accepts(const MoeProblem& problem) const override { return check_shapes(problem); }
  MoeWeights pack(const MoeWeights& weights, Arena& arena) const override {
    return pack_experts_as_stored(weights, arena);
  }
  size_t scratch_bytes(const MoeProblem&, int64_t, int) const override { return 0; }

  void run(const MoeProblem& problem, const MoeArgs& args, const CpuContext& cpu) const override {
    const Routing& routing = *args.routing;
    const auto hidden = static_cast<size_t>(problem.hidden);
    const auto token = [&](int64_t t) { return std::span(args.x + t * problem.hidden, hidden); };
    std::vector<Row> outputs(routing.expert.size());  // per (token, choice)
    cpu.pool.parallel_items(problem.experts, [&](int64_t e, int) {
      const auto at = static_cast<size_t>(e);
      if (routing.offsets[at] == routing.offsets[at + 1]) return;
      const Expert expert(args.weights->experts[at], problem.precision);
      for (int32_t i = routing.offsets[at]; i < routing.offsets[at + 1]; ++i) {
        const int32_t pair = routing.pairs[static_cast<size_t>(i)];
        outputs[static_cast<size_t>(pair)] = expert(token(pair / routing.top_k));
      }
    });
    std::vector<Row> sums(static_cast<size_t>(routing.tokens), Row(hidden, 0.0));
    for (size_t pair = 0; pair < outputs.size(); ++pair) {
      if (outputs[pair].empty()) continue;
      Row& sum = sums[pair / static_cast<size_t>(routing.top_k)];
      for (size_t i = 0; i < hidden; ++i)
        sum[i] += static_cast<double>(routing.weight[pair]) * outputs[pair][i];
    }
    if (problem.shared_intermediate > 0) add_shared(problem, args, sums);
    for (int64_t t = 0; t < routing.tokens; ++t) {
      for (size_t i = 0; i < hidden; ++i) {
        args.out[static_cast<size_t>(t) * hidden + i] =
            reference::round_result(sums[static_cast<size_t>(t)][i], problem.precision);
      }
    }
  }

 private:
  static void add_shared(const MoeProblem& problem, const MoeArgs& args, std::vector<Row>& sums) {
    const Expert shared(args.weights->shared, problem.precision);
    for (size_t t = 0; t < sums.size(); ++t) {
      const std::span<const float> x(args.x + t * static_cast<size_t>(problem.hidden),
                                     static_cast<size_t>(problem.hidden));
      double scale = 1;
      if (problem.shared_gate) {
        double logit = 0;
        for (size_t i = 0; i < x.size(); ++i)
          logit += static_cast<double>(args.weights->shared_gate[i]) * x[i];
        scale = reference::sigmoid(reference::round_result(logit, problem.precision));
      }
      const Row out = shared(x);
      for (size_t i = 0; i < x.size(); ++i) sums[t][i] += scale * out[i];
    }
  }
};

}  // namespace

const MoeRunner* moe_reference() {
  static const Reference runner;
  return &runner;
}

}  // namespace assay::kernels
