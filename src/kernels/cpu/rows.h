#pragma once
// Pieces of the plain CPU runners: decode one stored row to float, multiply it with rows of activations.
// The compiler vectorises; every sum has one fixed order that depends on its length alone, so results are
// row-invariant.
#include <cstdint>

#include "tensor/quant_view.h"

namespace assay::kernels::cpu {

// out[cols] = row `row` without its common factor; codes and scales must be aligned to their own size.
void decode_row(const QuantView& weight, int64_t row, float* out);
// The factor that decode_row left out: the tensor's global, times the channel's scale where there is one.
float row_factor(const QuantView& weight, int64_t row);

float dot(const float* a, const float* b, int64_t n);
// y += a * x over n elements.
void add_scaled(float a, const float* x, float* y, int64_t n);

float silu(float x);
float sigmoid(float x);

}  // namespace assay::kernels::cpu
