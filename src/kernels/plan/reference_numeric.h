#pragma once
// What the reference runners share: weights straight from the checkpoint's definition, and the rounding
// points of each precision class. No kernel includes this file; a script in CI checks it.
//
// Rounding points:
//   w4a32  none
//   w4a16  the result of every operation is rounded to BF16
//   w4a4   the inputs of NVFP4 matrices are quantised to NVFP4 (blocks of 16, the matrix's input_scale; where
//   none
//          is stored, the row's amax / 2688)
#include <span>
#include <vector>

#include "kernels/plan/precision.h"
#include "tensor/quant_view.h"

namespace assay::kernels::reference {

// Row `row` of the matrix, exact but for the product of its up to three factors being rounded to double.
std::vector<double> weight_row(const QuantView& weight, int64_t row);

// The value an operation hands on in this class.
float round_result(double value, PrecisionClass precision);

// One row x [weight.cols] as the matrix sees it in this class.
std::vector<float> matrix_input(std::span<const float> x, const QuantView& weight, PrecisionClass precision);

double dot(std::span<const double> weights, std::span<const float> x);
double sigmoid(double x);
double silu(double x);

}  // namespace assay::kernels::reference
