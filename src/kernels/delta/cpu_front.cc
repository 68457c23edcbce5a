#include "kernels/delta/cpu_front.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "kernels/cpu/rows.h"

namespace assay::kernels::cpu {
namespace {

constexpr float kUnitEps = 1e-6f;  // under the root of the l2 norm, as the published models have it

float softplus(float x) {
  return x > 20.0f ? x : std::log1p(std::exp(x));
}

// Conv input of a channel at row `index` of the sequence; negative indices reach into the history.
float input_at(const DeltaProblem& p, const DeltaArgs& args, const DeltaSequence& s, int64_t index,
               int64_t channel) {
  if (index >= 0) return args.qkv[(s.row_begin + index) * p.channels() + channel];
  if (s.state_in == nullptr) return 0.0f;
  return s.state_in[channel * (p.conv_width - 1) + p.conv_width - 1 + index];
}

void convolve_row(const DeltaProblem& p, const DeltaArgs& args, const DeltaSequence& s, int64_t index,
                  float* u) {
  for (int64_t c = 0; c < p.channels(); ++c) {
    const float* taps = args.conv_weight + c * p.conv_width;
    float sum = 0;
    for (int64_t j = 0; j < p.conv_width; ++j) {
      sum += taps[j] * input_at(p, args, s, index - (p.conv_width - 1) + j, c);
    }
    u[c] = silu(sum);
  }
}

void make_unit(float* head, int64_t n, float factor) {
  const float scale = factor / std::sqrt(dot(head, head, n) + kUnitEps);
  for (int64_t i = 0; i < n; ++i) head[i] *= scale;
}

}  // namespace

size_t delta_front_bytes(const DeltaProblem& p, int64_t max_rows) {
  return static_cast<size_t>(max_rows * (p.channels() + 2 * p.value_heads)) * sizeof(float);
}

DeltaFront delta_front(const DeltaProblem& p, const DeltaArgs& args, const CpuContext& cpu) {
  DeltaFront front;
  front.u = reinterpret_cast<float*>(cpu.scratch);
  front.beta = front.u + args.rows * p.channels();
  front.decay = front.beta + args.rows * p.value_heads;
  const float q_factor = 1.0f / std::sqrt(static_cast<float>(p.key_dim));
  for (const DeltaSequence& s : args.sequences) {
    cpu.pool.parallel_for(s.row_count, 4, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = s.row_begin + i;
        float* u = front.u + row * p.channels();
        convolve_row(p, args, s, i, u);
        for (int64_t h = 0; h < p.key_heads; ++h) {
          make_unit(u + h * p.key_dim, p.key_dim, q_factor);
          make_unit(u + (p.key_heads + h) * p.key_dim, p.key_dim, 1.0f);
        }
        for (int64_t h = 0; h < p.value_heads; ++h) {
          const int64_t at = row * p.value_heads + h;
          front.beta[at] = sigmoid(args.b[at]);
          front.decay[at] = -std::exp(args.a_log[h]) * softplus(args.a[at] + args.dt_bias[h]);
        }
      }
    });
  }
  return front;
}

float* begin_state(const DeltaProblem& p, const DeltaSequence& s, int64_t head) {
  const int64_t size = p.value_dim * p.key_dim, at = p.history_floats() + head * size;
  float* state = s.state_out.back() + at;
  if (s.state_in == nullptr) {
    std::fill_n(state, size, 0.0f);
  } else if (s.state_in != s.state_out.back()) {
    std::copy_n(s.state_in + at, size, state);
  }
  return state;
}

void store_history(const DeltaProblem& p, const DeltaArgs& args, const DeltaSequence& s) {
  constexpr int64_t kMaxWidth = 16;
  CHECK(p.conv_width <= kMaxWidth);
  for (int64_t i = 0; i < s.row_count; ++i) {
    float* keep = s.state_out[static_cast<size_t>(i)];
    if (keep == nullptr) continue;
    for (int64_t c = 0; c < p.channels(); ++c) {
      float history[kMaxWidth];  // read whole before writing: `keep` may be state_in
      for (int64_t j = 0; j < p.conv_width - 1; ++j)
        history[j] = input_at(p, args, s, i - (p.conv_width - 2) + j, c);
      std::copy_n(history, p.conv_width - 1, keep + c * (p.conv_width - 1));
    }
  }
}

void gated_norm(const DeltaProblem& p, const DeltaArgs& args, int64_t row, int64_t head, const float* o) {
  const int64_t base = (row * p.value_heads + head) * p.value_dim;
  const float scale = 1.0f / std::sqrt(dot(o, o, p.value_dim) / static_cast<float>(p.value_dim) + p.eps);
  for (int64_t j = 0; j < p.value_dim; ++j) {
    args.out[base + j] = o[j] * scale * args.norm_weight[j] * silu(args.z[base + j]);
  }
}

}  // namespace assay::kernels::cpu
