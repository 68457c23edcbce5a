#pragma once
// Canary: a short generation by the chosen plans must equal the reference path before anything is served.
#include "base/result.h"
#include "model/model.h"

namespace assay::engine {

// Feeds both models the same prompt and greedy tokens. The error names the position and both values. Uses
// page 0 and state slot 0 of each model.
// Positions the canary writes: both models need pages and context for them.
inline constexpr int kCanaryTokens = 8;

Result<void> run_canary(model::Model& served, model::Model& reference);

}  // namespace assay::engine
