#include "model/layers/delta_block.h"

namespace assay::model {
namespace {

kernels::DeltaProblem problem_of(const DeltaSpec& spec) {
  return {.key_heads = spec.key_heads,
          .value_heads = spec.value_heads,
          .key_dim = spec.key_dim,
          .value_dim = spec.value_dim,
          .conv_width = spec.conv_width};
}

class DeltaBlock final : public MixerBlock {
 public:
  DeltaBlock(Builder& builder, const DeltaWeights& weights, int64_t state_offset)
      : state_offset_(state_offset),
        in_(builder, std::vector{weights.qkv, weights.z, weights.b, weights.a}),
        out_(builder, std::vector{weights.out}),
        conv_(weights.conv),
        a_log_(weights.a_log),
        dt_bias_(weights.dt_bias),
        norm_(weights.norm) {
    kernels::DeltaProblem problem = problem_of(builder.spec.delta);
    problem.eps = builder.spec.eps;
    problem.precision = builder.options.precision;
    delta_ = builder.plan(kernels::delta_runners(), problem, builder.options.delta_backend);
  }

  void run(PassContext& pass, const float* x, float* out) const override {
    const Workspace::Frame frame(pass.workspace);
    const kernels::DeltaProblem& p = delta_.problem;
    const int64_t rows = pass.batch.rows(), values = p.value_heads * p.value_dim;
    float* qkv = pass.workspace.take(rows * p.channels());
    float* z = pass.workspace.take(rows * values);
    float* b = pass.workspace.take(rows * p.value_heads);
    float* a = pass.workspace.take(rows * p.value_heads);
    float* mixed = pass.workspace.take(rows * values);
    in_.run(pass.cpu, rows, x, std::vector{qkv, z, b, a});
    kernels::DeltaArgs args{.qkv = qkv,
                            .z = z,
                            .b = b,
                            .a = a,
                            .conv_weight = conv_.data(),
                            .a_log = a_log_.data(),
                            .dt_bias = dt_bias_.data(),
                            .norm_weight = norm_.data(),
                            .rows = rows,
                            .out = mixed};
    run_rule(pass, args);
    out_.run(pass.cpu, rows, mixed, std::vector{out});
  }

  Booking booking(int64_t max_rows, int64_t, int threads) const override {
    const kernels::DeltaProblem& p = delta_.problem;
    return {.floats_per_row = p.channels() + 2 * p.value_heads * p.value_dim + 2 * p.value_heads,
            .scratch_bytes =
                std::max({in_.scratch_bytes(max_rows, threads), out_.scratch_bytes(max_rows, threads),
                          delta_.runner->scratch_bytes(p, max_rows, threads)})};
  }

 private:
  void run_rule(PassContext& pass, kernels::DeltaArgs& args) const {
    const auto slot = [&](int32_t index) -> float* {
      return index < 0 ? nullptr
                       : pass.cache.states.floats() + index * pass.cache.state_floats + state_offset_;
    };
    std::vector<float*> keep;  // state_out of all rows, in order of the sequences
    for (const BatchSequence& s : pass.batch.sequences) {
      for (int32_t out : s.state_out) keep.push_back(slot(out));
    }
    std::vector<kernels::DeltaSequence> sequences;
    size_t first = 0;
    for (const BatchSequence& s : pass.batch.sequences) {
      sequences.push_back(
          {s.row_begin, s.row_count, slot(s.state_in), std::span(keep).subspan(first, s.state_out.size())});
      first += s.state_out.size();
    }
    args.sequences = sequences;
    delta_.runner->run(delta_.problem, args, pass.cpu);
  }

  int64_t state_offset_;
  LinearGroup in_, out_;
  std::vector<float> conv_, a_log_, dt_bias_, norm_;
  DeltaPlan delta_;
};

}  // namespace

std::unique_ptr<MixerBlock> make_delta_block(Builder& builder, const DeltaWeights& weights,
                                             int64_t state_offset) {
  return std::make_unique<DeltaBlock>(builder, weights, state_offset);
}

int64_t delta_state_floats(const DeltaSpec& spec) {
  return problem_of(spec).state_floats();
}

}  // namespace assay::model
