#include "kernels/linear/expected.h"

#include "kernels/plan/reference_numeric.h"

namespace assay::kernels {

Expected expect_linear(const LinearArgs& args, const LinearPart& part) {
  const QuantView& weight = *part.weight;
  std::vector<std::vector<double>> rows;
  for (int64_t n = 0; n < weight.rows; ++n) rows.push_back(reference::weight_row(weight, n));
  Expected expected;
  for (int64_t m = 0; m < args.rows; ++m) {
    const auto x = exact({args.x + m * args.x_stride, static_cast<size_t>(weight.cols)});
    for (const auto& row : rows) {
      const Uncertain y = uncertain_dot(row, x);
      expected.add(y.value, y.error);
    }
  }
  return expected;
}

}  // namespace assay::kernels
