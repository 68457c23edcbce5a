#include "engine/canary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/sequence_feeder.h"

namespace assay::engine {
namespace {

constexpr int kGeneratedTokens = 2;
constexpr int kPromptTokens = kCanaryTokens - kGeneratedTokens;
// Per logit, relative to the row's root mean square (at least 1): the bound that goldens are held to in class
// w4a32.
constexpr double kBound = 2e-3;

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
  model::SequenceFeeder ours(served), theirs(reference);
  for (int step = 0; step <= kGeneratedTokens; ++step) {
    const auto logits = ours.feed(next, model::SequenceFeeder::Logits::last_row);
    const auto expected = theirs.feed(next, model::SequenceFeeder::Logits::last_row);
    if (auto equal = compare(logits, expected, ours.position()); !equal) return equal;
    next = {static_cast<int32_t>(std::max_element(expected.begin(), expected.end()) - expected.begin())};
  }
  return {};
}

}  // namespace assay::engine
