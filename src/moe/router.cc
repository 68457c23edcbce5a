#include "moe/router.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::moe {
namespace {

constexpr double kExcluded = -INFINITY;

// Indices of the `count` largest values, largest first; ties go to the lower index.
std::vector<int32_t> largest(std::span<const double> values, int64_t count) {
  std::vector<int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](int32_t a, int32_t b) {
    const double x = values[static_cast<size_t>(a)], y = values[static_cast<size_t>(b)];
    return x > y || (x == y && a < b);
  });
  order.resize(static_cast<size_t>(count));
  return order;
}

std::vector<double> softmax(std::span<const double> logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  std::vector<double> p(logits.size());
  double total = 0;
  for (size_t i = 0; i < p.size(); ++i) total += p[i] = std::exp(logits[i] - top);
  for (double& x : p) x /= total;
  return p;
}

// Excludes every expert outside the best groups.
void limit_to_groups(const RouterSpec& spec, std::vector<double>& choice) {
  if (spec.groups <= 1) return;
  const size_t size = choice.size() / static_cast<size_t>(spec.groups);
  std::vector<double> group_score;
  for (size_t g = 0; g < static_cast<size_t>(spec.groups); ++g) {
    const std::span members(choice.data() + g * size, size);
    double score = 0;
    for (int32_t best : largest(members, std::min<int64_t>(2, static_cast<int64_t>(size)))) {
      score += members[static_cast<size_t>(best)];
    }
    group_score.push_back(score);
  }
  std::vector<bool> kept(group_score.size(), false);
  for (int32_t g : largest(group_score, spec.top_groups)) kept[static_cast<size_t>(g)] = true;
  for (size_t e = 0; e < choice.size(); ++e) {
    if (!kept[e / size]) choice[e] = kExcluded;
  }
}

void route_token(const RouterSpec& spec, std::span<const float> logits, std::span<const int32_t> forced,
                 int32_t* expert, float* weight) {
  std::vector<double> score(logits.begin(), logits.end());
  if (spec.score == RouterScore::softmax) score = softmax(score);
  if (spec.score == RouterScore::sigmoid) {
    for (double& s : score) s = 1.0 / (1.0 + std::exp(-s));
  }
  std::vector<double> choice = score;
  for (size_t e = 0; e < spec.choice_bias.size(); ++e) choice[e] += spec.choice_bias[e];
  limit_to_groups(spec, choice);
  const auto chosen =
      forced.empty() ? largest(choice, spec.top_k) : std::vector<int32_t>(forced.begin(), forced.end());
  std::vector<double> w;
  for (int32_t e : chosen) w.push_back(score[static_cast<size_t>(e)]);
  if (spec.score == RouterScore::softmax_top_k) w = softmax(w);
  double total = spec.renormalise_eps;
  for (double x : w) total += x;
  // Falling weight: with a choice bias the chosen order may differ.
  std::vector<size_t> order(chosen.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return w[a] > w[b]; });
  for (size_t i = 0; i < order.size(); ++i) {
    expert[i] = chosen[order[i]];
    weight[i] = static_cast<float>((spec.renormalise ? w[order[i]] / total : w[order[i]]) * spec.scaling);
  }
}

}  // namespace

kernels::Routing route(const RouterSpec& spec, std::span<const float> logits, int64_t tokens,
                       std::span<const bool> row_mask, std::span<const int32_t> forced) {
  kernels::Routing routing{.tokens = tokens, .top_k = spec.top_k};
  routing.expert.assign(static_cast<size_t>(tokens * spec.top_k), -1);
  routing.weight.assign(static_cast<size_t>(tokens * spec.top_k), 0.0f);
  for (int64_t t = 0; t < tokens; ++t) {
    if (!row_mask.empty() && !row_mask[static_cast<size_t>(t)]) continue;
    const auto at = static_cast<size_t>(t * spec.top_k);
    route_token(spec,
                logits.subspan(static_cast<size_t>(t * spec.experts), static_cast<size_t>(spec.experts)),
                forced.empty() ? forced : forced.subspan(at, static_cast<size_t>(spec.top_k)),
                &routing.expert[at], &routing.weight[at]);
  }
  group_by_expert(routing, spec.experts);
  return routing;
}

}  // namespace assay::moe
