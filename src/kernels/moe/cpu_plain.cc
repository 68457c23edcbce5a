// The plain expert block in three passes over all threads:
//   1. per (expert, block of intermediate rows): decode gate and up rows once, multiply with the expert's
//   tokens;
//   2. per (expert, block of hidden rows): decode down rows once, multiply with the activations;
//   3. per token: the weighted sum over its choices in their order, then the shared expert.
// Which tokens share an expert decides who computes an element, never how, so every row is bitwise its own
// result.
#include "kernels/moe/cpu_plain.h"

#include "kernels/cpu/rows.h"
#include "kernels/plan/reasons.h"

namespace assay::kernels {
namespace {

constexpr int64_t kBlockRows = 32;  // rows of a matrix per work item

int64_t rounded(int64_t floats) {
  return (floats + 15) / 16 * 16;
}

// The shared expert runs as one more expert whose pairs follow the routed ones.
struct Layout {
  int64_t pairs = 0;  // routed pairs + tokens of the shared expert
  int64_t act_stride = 0;
  float* act = nullptr;      // [pairs, act_stride]
  float* out = nullptr;      // [pairs, hidden]
  float* decoded = nullptr;  // per thread: two rows
  int64_t decoded_stride = 0;
};

int64_t decoded_stride(const MoeProblem& p) {
  return rounded(std::max({p.hidden, p.intermediate, p.shared_intermediate}));
}

Layout make_layout(const MoeProblem& p, int64_t tokens, std::byte* scratch) {
  Layout l;
  l.pairs = tokens * (p.top_k + (p.shared_intermediate > 0 ? 1 : 0));
  l.act_stride = rounded(std::max(p.intermediate, p.shared_intermediate));
  l.decoded_stride = decoded_stride(p);
  l.act = reinterpret_cast<float*>(scratch);
  l.out = l.act + l.pairs * l.act_stride;
  l.decoded = l.out + l.pairs * p.hidden;
  return l;
}

// A block of rows of one active expert.
struct Item {
  const ExpertWeights* expert = nullptr;
  int64_t first_pair = 0, pairs = 0;  // in routing order; the shared expert's are routed pairs + token
  int64_t row = 0;
};

class Work {
 public:
  Work(const MoeProblem& problem, const MoeArgs& args, const Layout& layout)
      : p_(problem), args_(args), l_(layout) {}

  void gate_up(const CpuContext& cpu) const {
    const auto items = split([](const ExpertWeights& e) { return e.gate.rows; });
    cpu.pool.parallel_items(static_cast<int64_t>(items.size()), [&](int64_t i, int worker) {
      const Item& item = items[static_cast<size_t>(i)];
      float* gate = l_.decoded + worker * 2 * l_.decoded_stride;
      float* up = gate + l_.decoded_stride;
      const int64_t end = std::min(item.row + kBlockRows, item.expert->gate.rows);
      for (int64_t n = item.row; n < end; ++n) {
        cpu::decode_row(item.expert->gate, n, gate);
        cpu::decode_row(item.expert->up, n, up);
        const float gate_factor = cpu::row_factor(item.expert->gate, n);
        const float up_factor = cpu::row_factor(item.expert->up, n);
        for (int64_t j = item.first_pair; j < item.first_pair + item.pairs; ++j) {
          const float* x = args_.x + token_of(j) * p_.hidden;
          l_.act[j * l_.act_stride + n] = cpu::silu(gate_factor * cpu::dot(gate, x, p_.hidden)) *
                                          (up_factor * cpu::dot(up, x, p_.hidden));
        }
      }
    });
  }

  void down(const CpuContext& cpu) const {
    const auto items = split([](const ExpertWeights& e) { return e.down.rows; });
    cpu.pool.parallel_items(static_cast<int64_t>(items.size()), [&](int64_t i, int worker) {
      const Item& item = items[static_cast<size_t>(i)];
      float* row = l_.decoded + worker * 2 * l_.decoded_stride;
      const int64_t end = std::min(item.row + kBlockRows, p_.hidden);
      for (int64_t n = item.row; n < end; ++n) {
        cpu::decode_row(item.expert->down, n, row);
        const float factor = cpu::row_factor(item.expert->down, n);
        for (int64_t j = item.first_pair; j < item.first_pair + item.pairs; ++j) {
          l_.out[j * p_.hidden + n] =
              factor * cpu::dot(row, l_.act + j * l_.act_stride, item.expert->down.cols);
        }
      }
    });
  }

  void combine(const CpuContext& cpu) const {
    const Routing& routing = *args_.routing;
    // Where the output of a (token, choice) pair lies: the inverse of `pairs`.
    std::vector<int64_t> place(routing.expert.size(), -1);
    for (size_t i = 0; i < routing.pairs.size(); ++i)
      place[static_cast<size_t>(routing.pairs[i])] = static_cast<int64_t>(i);
    cpu.pool.parallel_for(routing.tokens, 8, [&](int64_t begin, int64_t end, int) {
      for (int64_t t = begin; t < end; ++t) {
        float* out = args_.out + t * p_.hidden;
        std::fill_n(out, p_.hidden, 0.0f);
        for (int64_t c = 0; c < routing.top_k; ++c) {
          const auto pair = static_cast<size_t>(t * routing.top_k + c);
          if (place[pair] >= 0)
            cpu::add_scaled(routing.weight[pair], l_.out + place[pair] * p_.hidden, out, p_.hidden);
        }
        if (p_.shared_intermediate > 0) {
          const float* gate = args_.weights->shared_gate.data();
          const float scale =
              p_.shared_gate ? cpu::sigmoid(cpu::dot(gate, args_.x + t * p_.hidden, p_.hidden)) : 1.0f;
          cpu::add_scaled(scale, l_.out + (routed_pairs() + t) * p_.hidden, out, p_.hidden);
        }
      }
    });
  }

 private:
  int64_t routed_pairs() const { return static_cast<int64_t>(args_.routing->pairs.size()); }

  int64_t token_of(int64_t j) const {
    if (j >= routed_pairs()) return j - routed_pairs();
    return args_.routing->pairs[static_cast<size_t>(j)] / args_.routing->top_k;
  }

  template <class Rows>
  std::vector<Item> split(const Rows& rows) const {
    std::vector<Item> items;
    const auto add = [&](const ExpertWeights& expert, int64_t first, int64_t count) {
      if (count == 0) return;
      for (int64_t row = 0; row < rows(expert); row += kBlockRows)
        items.push_back({&expert, first, count, row});
    };
    const auto& offsets = args_.routing->offsets;
    for (size_t e = 0; e < static_cast<size_t>(p_.experts); ++e) {
      add(args_.weights->experts[e], offsets[e], offsets[e + 1] - offsets[e]);
    }
    if (p_.shared_intermediate > 0) add(args_.weights->shared, routed_pairs(), args_.routing->tokens);
    return items;
  }

  const MoeProblem& p_;
  const MoeArgs& args_;
  const Layout& l_;
};

class CpuPlain final : public MoeRunner {
 public:
  std::string_view name() const override { return "cpu_plain"; }
  Determinism determinism() const override { return Determinism::row_invariant; }

  Verdict accepts(const MoeProblem& problem) const override {
    if (problem.precision != PrecisionClass::w4a32)
      return reasons::precision_not_computed(problem.precision, "w4a32");
    return check_shapes(problem);
  }

  MoeWeights pack(const MoeWeights& weights, Arena& arena) const override {
    return pack_experts_as_stored(weights, arena);
  }

  size_t scratch_bytes(const MoeProblem& problem, int64_t max_rows, int threads) const override {
    const Layout l = make_layout(problem, max_rows, nullptr);
    return static_cast<size_t>(l.pairs * (l.act_stride + problem.hidden) + threads * 2 * l.decoded_stride) *
           sizeof(float);
  }

  void run(const MoeProblem& problem, const MoeArgs& args, const CpuContext& cpu) const override {
    const Layout layout = make_layout(problem, args.routing->tokens, cpu.scratch);
    const Work work(problem, args, layout);
    work.gate_up(cpu);
    work.down(cpu);
    work.combine(cpu);
  }
};

}  // namespace

const MoeRunner* moe_cpu_plain() {
  static const CpuPlain runner;
  return &runner;
}

}  // namespace assay::kernels
