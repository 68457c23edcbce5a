#include "kernels/moe/routing.h"

#include <cstddef>

namespace assay::kernels {

void group_by_expert(Routing& routing, int64_t experts) {
  routing.offsets.assign(static_cast<size_t>(experts) + 1, 0);
  for (int32_t e : routing.expert) {
    if (e >= 0) routing.offsets[static_cast<size_t>(e) + 1]++;
  }
  for (size_t e = 0; e < static_cast<size_t>(experts); ++e) routing.offsets[e + 1] += routing.offsets[e];
  routing.pairs.resize(static_cast<size_t>(routing.offsets.back()));
  std::vector<int32_t> next(routing.offsets.begin(), routing.offsets.end() - 1);
  for (size_t pair = 0; pair < routing.expert.size(); ++pair) {
    const int32_t e = routing.expert[pair];
    if (e >= 0)
      routing.pairs[static_cast<size_t>(next[static_cast<size_t>(e)]++)] = static_cast<int32_t>(pair);
  }
}

}  // namespace assay::kernels
