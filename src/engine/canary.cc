#include "engine/canary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::engine {
namespace {

constexpr int kGeneratedTokens = 2;
constexpr int kPromptTokens = kCanaryTokens - kGeneratedTokens;
// Per logit, relative to the row's root mean square (at least 1): the bound that goldens are held to in class
// w4a32.
constexpr double kBound = 2e-3;

// Logits of the last of `ids`, which continue the sequence at `position`.
std::vector<float> feed(model::Model& model, const std::vector<int32_t>& ids, int64_t position) {
  std::vector<int32_t> pages;
  for (int32_t p = 0; p * model.options().page_size < kCanaryTokens; ++p) pages.push_back(p);
  std::vector<int32_t> state_out(ids.size(), -1);
  state_out.back() = 0;
  model::Batch batch{.ids = ids, .logit_rows = {static_cast<int32_t>(ids.size()) - 1}};
  for (size_t i = 0; i < ids.size(); ++i)
    batch.positions.push_back(static_cast<int32_t>(position + static_cast<int64_t>(i)));
  batch.sequences.push_back({.row_begin = 0,
                             .row_count = batch.rows(),
                             .position = position,
                             .pages = pages,
                             .state_in = position == 0 ? -1 : 0,
                             .state_out = state_out});
  std::vector<float> logits;
  model.forward(batch, logits);
  return logits;
}

Result<void> compare(const std::vector<float>& served, const std::vector<float>& reference,
                     int64_t position) {
  double squares = 0;
  for (float x : reference) squares += static_cast<double>(x) * x;
  const double bound = kBound * std::max(1.0, std::sqrt(squares / static_cast<double>(reference.size())));
  for (size_t i = 0; i < reference.size(); ++i) {
    if (std::fabs(static_cast<double>(served[i]) - reference[i]) <= bound) continue;
    return Error{fmt::format(
        "canary: after {} tokens logit {} is {}, the reference path gives {} (bound {:.2g}): this "
        "build must not serve this model on this machine",
        position, i, served[i], reference[i], bound)};
  }
  return {};
}

}  // namespace

Result<void> run_canary(model::Model& served, model::Model& reference) {
  const int64_t vocab = served.spec().vocab;
  std::vector<int32_t> next;
  for (int64_t i = 0; i < kPromptTokens; ++i) next.push_back(static_cast<int32_t>((i * 7919 + 17) % vocab));
  int64_t position = 0;
  for (int step = 0; step <= kGeneratedTokens; ++step) {
    const std::vector<float> ours = feed(served, next, position), theirs = feed(reference, next, position);
    position += static_cast<int64_t>(next.size());
    if (auto equal = compare(ours, theirs, position); !equal) return equal;
    next = {static_cast<int32_t>(std::max_element(theirs.begin(), theirs.end()) - theirs.begin())};
  }
  return {};
}

}  // namespace assay::engine
