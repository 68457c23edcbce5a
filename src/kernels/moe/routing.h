#pragma once
// Routing: who goes where. Made once per layer and step by the Router, read by every runner.
#include <cstdint>
#include <vector>

namespace assay::kernels {

// A (token, choice) pair is named token * top_k + choice; choices are in falling order of weight.
struct Routing {
  int64_t tokens = 0;
  int64_t top_k = 0;
  std::vector<int32_t> expert;   // [tokens * top_k], -1 = masked row: no expert
  std::vector<float> weight;     // [tokens * top_k]
  std::vector<int32_t> offsets;  // [experts + 1] into `pairs`
  std::vector<int32_t> pairs;    // pairs sorted by expert, then by name
};

// Fills offsets and pairs from `expert`.
void group_by_expert(Routing& routing, int64_t experts);

}  // namespace assay::kernels
