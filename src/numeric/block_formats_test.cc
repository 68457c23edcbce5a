#include "numeric/block_formats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "numeric/float_formats.h"

namespace assay::numeric {
namespace {

TEST(BlockFormats, LowNibbleComesFirst) {
  const std::vector<uint8_t> packed = {0x21};
  EXPECT_EQ(decode_e2m1(unpack_e2m1(packed, 0)), 0.5f);
  EXPECT_EQ(decode_e2m1(unpack_e2m1(packed, 1)), 1.0f);
}

TEST(BlockFormats, Nvfp4IsExactForEveryCodeAndScale) {
  for (int scale = 0; scale < 0x7F; ++scale) {
    for (int code = 0; code < 16; ++code) {
      const double expected = static_cast<double>(decode_e2m1(static_cast<uint8_t>(code))) *
                              decode_e4m3(static_cast<uint8_t>(scale)) * 0.25;
      EXPECT_EQ(dequantise_nvfp4(static_cast<uint8_t>(code), static_cast<uint8_t>(scale), 0.25f), expected);
    }
  }
}

TEST(BlockFormats, ActivationBlockByHand) {
  // amax 12, input_scale 1: scale = E4M3(2) = 2; 12/2 = 6, 1/2 = 0.5, 0.5/2 = 0.25 -> 0 (tie to even), 3/2
  // = 1.5.
  std::vector<float> x(16, 0.0f), out(16);
  x[0] = 12, x[1] = 1, x[2] = 0.5f, x[3] = -3;
  fake_quantise_nvfp4(x, 1.0f, out);
  EXPECT_EQ(out[0], 12);
  EXPECT_EQ(out[1], 1);
  EXPECT_EQ(out[2], 0);
  EXPECT_EQ(out[3], -3);
  // Far above the calibrated range the scale caps at 448 and values saturate at 6 * 448 * input_scale.
  x.assign(16, 1e6f);
  fake_quantise_nvfp4(x, 1.0f, out);
  EXPECT_EQ(out[5], 2688.0f);
  // A scale that rounds to zero gives zeros.
  x.assign(16, 1e-6f);
  fake_quantise_nvfp4(x, 1.0f, out);
  EXPECT_EQ(out[5], 0.0f);
}

TEST(BlockFormats, WeightRowsStayWithinHalfAStep) {
  std::mt19937 rng(7);
  std::normal_distribution<float> normal;
  std::vector<float> row(64);
  for (float& v : row) v = normal(rng);
  std::fill(row.begin() + 16, row.begin() + 32, 0.0f);
  float amax = 0;
  for (float v : row) amax = std::max(amax, std::fabs(v));
  std::vector<uint8_t> packed(32), scales(4);
  const float global = amax / 2688;
  quantise_nvfp4_row(row, global, packed, scales);
  EXPECT_EQ(decode_e4m3(scales[1]), 1.0f);  // all-zero block
  for (int i = 0; i < 64; ++i) {
    const float step = decode_e4m3(scales[static_cast<size_t>(i / 16)]) * global;
    const float back = dequantise_nvfp4(unpack_e2m1(packed, i), scales[static_cast<size_t>(i / 16)], global);
    // Codes are at most 2 steps apart (4..6), and E4M3 rounding lets the largest exceed 6 steps by 1/16.
    EXPECT_LE(std::fabs(back - row[static_cast<size_t>(i)]), 1.0f * step + 6.0f / 16 * step) << i;
  }
}

TEST(BlockFormats, Fp8BlocksHaveTheirOwnEdgeScales) {
  const int64_t rows = 130, cols = 200;
  std::vector<float> w(static_cast<size_t>(rows * cols), 1.0f), scales(4);
  w.back() = 448.0f;  // lies in the partial corner block
  std::vector<uint8_t> codes(w.size());
  quantise_fp8_block(w, rows, cols, codes, scales);
  EXPECT_EQ(scales[0], 1.0f / 448);
  EXPECT_EQ(scales[3], 1.0f);
  EXPECT_EQ(decode_e4m3(codes.back()) * scales[3], 448.0f);
  EXPECT_EQ(decode_e4m3(codes.front()) * scales[0], 1.0f);
}

TEST(BlockFormats, MxfpRowScalesArePowersOfTwo) {
  std::vector<float> row(32, 0.75f);
  std::vector<uint8_t> packed(16), scales(1);
  quantise_mxfp4_row(row, packed, scales);
  EXPECT_EQ(decode_e8m0(scales[0]), 0.125f);
  EXPECT_EQ(dequantise_mxfp4(unpack_e2m1(packed, 3), scales[0]), 0.75f);
}

}  // namespace
}  // namespace assay::numeric
