#pragma once
// What the CPU delta runners share: the way in (convolution, unit vectors, gates) and the way out (gated
// norm, history).
#include "kernels/delta/runner.h"

namespace assay::kernels::cpu {

// The step's rows after convolution and gates, in scratch memory.
struct DeltaFront {
  float* u = nullptr;      // [rows, channels]: q (unit, scaled) | k (unit) | v
  float* beta = nullptr;   // [rows, value_heads]
  float* decay = nullptr;  // [rows, value_heads]: g, the natural log of the decay, <= 0
};

size_t delta_front_bytes(const DeltaProblem& problem, int64_t max_rows);
// Fills the front for all rows; reads the sequences' histories, writes none.
DeltaFront delta_front(const DeltaProblem& problem, const DeltaArgs& args, const CpuContext& cpu);

// Where head `head` of the sequence's final state lives, holding its incoming state: zeros, a copy, or
// already in place.
float* begin_state(const DeltaProblem& problem, const DeltaSequence& sequence, int64_t head);

// Writes the conv history after each kept row. Rows are done in order and the last may be in place.
void store_history(const DeltaProblem& problem, const DeltaArgs& args, const DeltaSequence& sequence);
// out = rms_norm(o) * weight * silu(z) for one row and head; o [value_dim] may be `out`.
void gated_norm(const DeltaProblem& problem, const DeltaArgs& args, int64_t row, int64_t head,
                const float* o);

}  // namespace assay::kernels::cpu
