#include "kernels/testing/expect.h"

namespace assay::kernels::testing {

void expect_within(std::span<const float> out, const Expected& expected, const std::string& what) {
  const auto& [reference, bound] = expected;
  const Judgement j = judge(out, reference, bound);
  EXPECT_TRUE(j.passed()) << what << ": " << j.violations << " elements outside, worst at " << j.worst_index
                          << ": " << out[static_cast<size_t>(j.worst_index)] << " against "
                          << reference[static_cast<size_t>(j.worst_index)] << ", " << j.worst_ratio
                          << " x the bound";
  EXPECT_LT(j.detectable_scale, 0.25) << what << ": the bound is too loose to prove anything";
  std::vector<float> zeroed(out.size(), 0.0f), scaled(out.begin(), out.end()),
      swapped(out.begin(), out.end());
  for (float& v : scaled) v *= 1.25f;
  for (size_t i = 0; i + 1 < swapped.size(); i += 2) std::swap(swapped[i], swapped[i + 1]);
  EXPECT_FALSE(judge(zeroed, reference, bound).passed()) << what << ": zeros pass";
  EXPECT_FALSE(judge(scaled, reference, bound).passed()) << what << ": 1.25 x passes";
  if (out.size() > 1) {
    EXPECT_FALSE(judge(swapped, reference, bound).passed()) << what << ": permuted passes";
  }
}

}  // namespace assay::kernels::testing
