#pragma once
// A draw is a function of (seed, choice, position, purpose): batch neighbours, restarts and replays cannot
// change it.
#include <cstdint>

namespace assay::engine {

enum class DrawPurpose : uint64_t { sample = 1, draft = 2, accept = 3, residual = 4 };

// Uniform in [0, 1), 53 bits. The mixing function is SplitMix64's finaliser (Steele, Lea, Flood 2014).
double uniform_draw(uint64_t seed, uint32_t choice, uint64_t position, DrawPurpose purpose);

}  // namespace assay::engine
