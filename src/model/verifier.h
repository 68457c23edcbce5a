#pragma once
// Verifier: runs a model over its goldens and judges every prompt by the rules of the precision class.
//   w4a32  every logit within 2e-3; greedy ids equal where the golden margin exceeds that; hidden states and
//   router
//          choices of prompt 0 as stored
//   w4a16  mean or median (whichever is stored) <= 2 x, p99 <= 3 x the error of the reference's own BF16 run;
//          worst error and flipped experts are shown, not judged
//   w4a4   logits_w4a4.i token by token: a flipped code moves a whole token, so most tokens must be within
//   1e-2
#include <optional>
#include <string>
#include <vector>

#include "model/golden.h"
#include "model/model.h"

namespace assay::model {

inline constexpr double kLogitBound = 2e-3;      // w4a32, absolute
inline constexpr double kW4a4TokenBound = 1e-2;  // w4a4, absolute, per token
inline constexpr double kW4a4TokenShare = 0.5;   // of tokens that must be within it

struct GreedyDifference {
  int step = 0;
  int32_t expected = 0, found = 0;
  double margin = 0;  // golden top-1 minus top-2 at that step
};

struct PromptReport {
  std::string name;
  int64_t tokens = 0;
  int64_t rows_compared = 0;  // rows with stored logits
  double worst = 0, mean = 0, median = 0, p99 = 0;
  double bound = 0;               // what `judged` says must not exceed
  std::string judged;             // "worst", "mean", "median", "tokens outside"
  double token_share_within = 1;  // w4a4
  std::optional<GreedyDifference> greedy;
  int layer_out_of_bound = -1;  // first index of hidden.i outside its bound, prompt 0 only
  int flipped_experts = 0;      // rows x layers whose expert set differs, prompt 0 only
  int unexcused_flips = 0;      // of those, with a router gap above the bound
  bool chunks_agree = true;  // chunks of 1, 7, 64 and whole give the same last-row argmax and logits in bound
  bool passed = true;
};

struct VerifyOptions {
  bool golden_routing = false;  // use the stored expert choice where there is one
};

struct VerifyReport {
  std::vector<PromptReport> prompts;
  bool passed = true;
};

// The model needs one state slot and pages for its longest prompt + greedy run (size_for_golden).
// An error: the golden does not fit the model (ids, shapes).
Result<VerifyReport> verify(Model& model, const Golden& golden, const VerifyOptions& options);
// Sizes a model for this golden.
void size_for_golden(const Golden& golden, ModelOptions& options);

}  // namespace assay::model
