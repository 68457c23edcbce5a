#include "numeric/float_formats.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace assay::numeric {
namespace {

// For a format given by its decoder over all codes: every finite code survives decode -> encode, the value
// halfway between two neighbours goes to the one with the even code, and values just off the middle go to the
// nearer one.
template <class Bits, class Decode, class Encode>
void check_all_codes(int magnitude_codes, Bits sign_bit, Decode decode, Encode encode) {
  for (int code = 0; code < magnitude_codes; ++code) {
    const float value = decode(static_cast<Bits>(code));
    ASSERT_EQ(encode(value), static_cast<Bits>(code)) << code;
    ASSERT_EQ(encode(-value), static_cast<Bits>(code | sign_bit)) << code;
    ASSERT_EQ(decode(static_cast<Bits>(code | sign_bit)), -value);
    if (code + 1 == magnitude_codes) break;
    const float next = decode(static_cast<Bits>(code + 1));
    ASSERT_LT(value, next);
    const float middle = static_cast<float>((static_cast<double>(value) + next) / 2);
    ASSERT_EQ(encode(middle), static_cast<Bits>(code % 2 == 0 ? code : code + 1))
        << "tie after code " << code;
    ASSERT_EQ(encode(std::nextafter(middle, 0.0f)), static_cast<Bits>(code));
    ASSERT_EQ(encode(std::nextafter(middle, next * 2)), static_cast<Bits>(code + 1));
  }
}

TEST(FloatFormats, E2m1AllCodes) {
  const std::vector<float> expected = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (uint8_t code = 0; code < 8; ++code) EXPECT_EQ(decode_e2m1(code), expected[code]);
  check_all_codes<uint8_t>(8, 8, decode_e2m1, encode_e2m1);
  EXPECT_TRUE(std::signbit(decode_e2m1(8)));
  EXPECT_EQ(encode_e2m1(100.0f), 7);
  EXPECT_EQ(encode_e2m1(-std::numeric_limits<float>::infinity()), 15);
  // The ties named by the format's users: 0.25->0, 0.75->1, 1.25->1, 1.75->2, 2.5->2, 3.5->4, 5->4.
  const std::vector<std::pair<float, float>> ties = {{0.25f, 0}, {0.75f, 1}, {1.25f, 1}, {1.75f, 2},
                                                     {2.5f, 2},  {3.5f, 4},  {5, 4}};
  for (auto [x, y] : ties) EXPECT_EQ(decode_e2m1(encode_e2m1(x)), y) << x;
}

TEST(FloatFormats, E4m3AllCodes) {
  check_all_codes<uint8_t>(0x7F, 0x80, decode_e4m3, encode_e4m3);
  EXPECT_EQ(decode_e4m3(0x01), 0x1p-9f);
  EXPECT_EQ(decode_e4m3(0x08), 0x1p-6f);
  EXPECT_EQ(decode_e4m3(0x7E), 448.0f);
  EXPECT_TRUE(std::isnan(decode_e4m3(0x7F)));
  EXPECT_TRUE(std::isnan(decode_e4m3(0xFF)));
  EXPECT_EQ(encode_e4m3(1e30f), 0x7E);
  EXPECT_EQ(encode_e4m3(464.0f), 0x7E);
  EXPECT_EQ(encode_e4m3(-std::numeric_limits<float>::infinity()), 0xFE);
  EXPECT_EQ(encode_e4m3(std::numeric_limits<float>::quiet_NaN()), 0x7F);
  EXPECT_EQ(encode_e4m3(0x1p-10f), 0);  // half of the smallest subnormal: tie to even
}

TEST(FloatFormats, E5m2AllCodes) {
  check_all_codes<uint8_t>(0x7C, 0x80, decode_e5m2, encode_e5m2);
  EXPECT_EQ(decode_e5m2(0x7B), 57344.0f);
  EXPECT_EQ(decode_e5m2(0x01), 0x1p-16f);
  EXPECT_TRUE(std::isinf(decode_e5m2(0x7C)));
  for (int code = 0x7D; code <= 0x7F; ++code)
    EXPECT_TRUE(std::isnan(decode_e5m2(static_cast<uint8_t>(code))));
  EXPECT_EQ(encode_e5m2(1e30f), 0x7B);
  EXPECT_EQ(encode_e5m2(std::numeric_limits<float>::infinity()), 0x7C);
}

TEST(FloatFormats, Fp16AllCodes) {
  check_all_codes<uint16_t>(0x7C00, 0x8000, decode_fp16, encode_fp16);
  EXPECT_EQ(decode_fp16(0x3C00), 1.0f);
  EXPECT_EQ(decode_fp16(0x7BFF), 65504.0f);
  EXPECT_EQ(encode_fp16(65519.99f), 0x7BFF);
  EXPECT_EQ(encode_fp16(65520.0f), 0x7C00);
  EXPECT_TRUE(std::isnan(decode_fp16(0x7C01)));
}

TEST(FloatFormats, Bf16AllCodes) {
  check_all_codes<uint16_t>(0x7F80, 0x8000, decode_bf16, encode_bf16);
  EXPECT_TRUE(std::isnan(decode_bf16(encode_bf16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isnan(decode_bf16(encode_bf16(std::bit_cast<float>(0x7F800001u)))));
  EXPECT_TRUE(std::isinf(decode_bf16(encode_bf16(std::numeric_limits<float>::max()))));
}

TEST(FloatFormats, E8m0AllCodes) {
  for (int bits = 0; bits < 255; ++bits) {
    EXPECT_EQ(decode_e8m0(static_cast<uint8_t>(bits)), std::ldexp(1.0f, bits - 127));
    EXPECT_EQ(encode_e8m0_ceil(std::ldexp(1.0f, bits - 127)), bits);
  }
  EXPECT_TRUE(std::isnan(decode_e8m0(255)));
  EXPECT_EQ(encode_e8m0_ceil(1.0001f), 128);
}

}  // namespace
}  // namespace assay::numeric
