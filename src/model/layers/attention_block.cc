#include "model/layers/attention_block.h"

#include <cmath>

namespace assay::model {
namespace {

class AttentionBlock final : public MixerBlock {
 public:
  AttentionBlock(Builder& builder, const AttentionWeights& weights, int64_t page_offset)
      : spec_(builder.spec.attention),
        eps_(builder.spec.eps),
        page_offset_(page_offset),
        qkv_(builder, std::vector{weights.q, weights.k, weights.v}),
        o_(builder, std::vector{weights.o}),
        q_norm_(weights.q_norm),
        k_norm_(weights.k_norm) {
    const kernels::AttentionProblem problem{.heads = spec_.heads,
                                            .kv_heads = spec_.kv_heads,
                                            .head_dim = spec_.head_dim,
                                            .page_size = builder.options.page_size,
                                            .scale = static_cast<float>(1.0 / std::sqrt(spec_.head_dim)),
                                            .precision = builder.options.precision};
    attention_ = builder.plan(kernels::attention_runners(), problem, builder.options.attention_backend);
    const kernels::SmallProblem small{.hidden = builder.spec.hidden, .precision = builder.options.precision};
    small_ = builder.plan(kernels::small_runners(), small, builder.options.small_backend);
    for (int64_t i = 0; i < spec_.rotary_dim / 2; ++i) {
      const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(spec_.rotary_dim);
      inverse_frequency_.push_back(std::pow(spec_.rope_theta, exponent));
    }
  }

  void run(PassContext& pass, const float* x, float* out) const override {
    const Workspace::Frame frame(pass.workspace);
    const int64_t rows = pass.batch.rows();
    float* q = pass.workspace.take(rows * q_width());
    float* k = pass.workspace.take(rows * kv_width());
    float* v = pass.workspace.take(rows * kv_width());
    float* mixed = pass.workspace.take(rows * spec_.heads * spec_.head_dim);
    qkv_.run(pass.cpu, rows, x, std::vector{q, k, v});
    norm_rope(pass, q, spec_.heads, q_head_stride(), q_norm_);
    norm_rope(pass, k, spec_.kv_heads, spec_.head_dim, k_norm_);
    attend(pass, q, k, v, mixed);
    if (spec_.output_gate) {
      small_.runner->sigmoid_gate(small_.problem,
                                  {.rows = rows,
                                   .heads = spec_.heads,
                                   .head_dim = spec_.head_dim,
                                   .x = mixed,
                                   .gate = q + spec_.head_dim,
                                   .gate_head_stride = q_head_stride(),
                                   .gate_row_stride = q_width()},
                                  pass.cpu);
    }
    o_.run(pass.cpu, rows, mixed, std::vector{out});
  }

  Booking booking(int64_t max_rows, int64_t max_context, int threads) const override {
    return {.floats_per_row = q_width() + 2 * kv_width() + spec_.heads * spec_.head_dim,
            .scratch_bytes =
                std::max({qkv_.scratch_bytes(max_rows, threads), o_.scratch_bytes(max_rows, threads),
                          attention_.runner->scratch_bytes(attention_.problem, max_context, threads)})};
  }

 private:
  int64_t q_head_stride() const { return spec_.head_dim * (spec_.output_gate ? 2 : 1); }
  int64_t q_width() const { return spec_.heads * q_head_stride(); }
  int64_t kv_width() const { return spec_.kv_heads * spec_.head_dim; }

  void norm_rope(PassContext& pass, float* x, int64_t heads, int64_t head_stride,
                 const std::vector<float>& norm) const {
    small_.runner->norm_rope(small_.problem,
                             {.rows = pass.batch.rows(),
                              .heads = heads,
                              .head_dim = spec_.head_dim,
                              .head_stride = head_stride,
                              .row_stride = heads * head_stride,
                              .x = x,
                              .norm_weight = norm.empty() ? nullptr : norm.data(),
                              .eps = eps_,
                              .rotary_dim = spec_.rotary_dim,
                              .inverse_frequency = inverse_frequency_.data(),
                              .positions = pass.batch.positions},
                             pass.cpu);
  }

  void attend(PassContext& pass, const float* q, const float* k, const float* v, float* out) const {
    std::vector<kernels::AttentionSequence> sequences;
    for (const BatchSequence& s : pass.batch.sequences) {
      sequences.push_back({s.row_begin, s.row_count, s.position, s.pages});
    }
    float* keys = pass.cache.pages.floats() + page_offset_;
    const int64_t values = attention_page_floats(spec_, attention_.problem.page_size) / 2;
    attention_.runner->run(attention_.problem,
                           {.q = q,
                            .q_row_stride = q_width(),
                            .q_head_stride = q_head_stride(),
                            .k = k,
                            .v = v,
                            .sequences = sequences,
                            .cache = {keys, keys + values, pass.cache.page_floats},
                            .out = out},
                           pass.cpu);
  }

  AttentionSpec spec_;
  float eps_;
  int64_t page_offset_;
  LinearGroup qkv_, o_;
  std::vector<float> q_norm_, k_norm_;
  AttentionPlan attention_;
  SmallPlan small_;
  std::vector<double> inverse_frequency_;
};

}  // namespace

std::unique_ptr<MixerBlock> make_attention_block(Builder& builder, const AttentionWeights& weights,
                                                 int64_t page_offset) {
  return std::make_unique<AttentionBlock>(builder, weights, page_offset);
}

int64_t attention_page_floats(const AttentionSpec& spec, int64_t page_size) {
  return 2 * page_size * spec.kv_heads * spec.head_dim;
}

}  // namespace assay::model
