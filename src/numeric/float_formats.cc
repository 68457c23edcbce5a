#include "numeric/float_formats.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace assay::numeric {
namespace {

// Value of a small float with `fraction_bits`, exponent bias `bias`, given its magnitude bits (no sign).
float decode_magnitude(unsigned magnitude, int fraction_bits, int bias) {
  const unsigned exponent = magnitude >> fraction_bits;
  const unsigned fraction = magnitude & ((1u << fraction_bits) - 1);
  if (exponent == 0) return std::ldexp(static_cast<float>(fraction), 1 - bias - fraction_bits);
  return std::ldexp(static_cast<float>(fraction | (1u << fraction_bits)),
                    static_cast<int>(exponent) - bias - fraction_bits);
}

// Magnitude bits nearest to |value| (ties to even) in a format with the given shape, without an upper limit.
unsigned encode_magnitude(float value, int fraction_bits, int bias) {
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude == 0) return 0;
  int exponent = 0;
  std::frexp(magnitude, &exponent);                     // magnitude = m * 2^exponent, m in [0.5, 1)
  const int normal = std::max(exponent - 1, 1 - bias);  // exponent of the leading bit, clamped to subnormals
  const double steps = std::ldexp(magnitude, fraction_bits - normal);  // units in the last place
  const unsigned rounded =
      static_cast<unsigned>(std::nearbyint(steps));  // current mode: nearest, ties to even
  // A carry out of the fraction moves into the exponent by itself.
  return rounded + (static_cast<unsigned>(normal + bias - 1) << fraction_bits);
}

}  // namespace

uint16_t encode_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float round_to_bf16(float value) {
  return decode_bf16(encode_bf16(value));
}

float decode_fp16(uint16_t bits) {
  const float sign = bits & 0x8000 ? -1.0f : 1.0f;
  const unsigned magnitude = bits & 0x7FFF;
  if (magnitude > 0x7C00) return std::numeric_limits<float>::quiet_NaN();
  if (magnitude == 0x7C00) return sign * std::numeric_limits<float>::infinity();
  return sign * decode_magnitude(magnitude, 10, 15);
}

uint16_t encode_fp16(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7E00;
  if (std::fabs(value) >= 65520.0f) return sign | 0x7C00;  // rounds past the largest, 65504
  return static_cast<uint16_t>(sign | encode_magnitude(value, 10, 15));
}

float decode_e4m3(uint8_t bits) {
  const unsigned magnitude = bits & 0x7F;
  if (magnitude == 0x7F) return std::numeric_limits<float>::quiet_NaN();
  return (bits & 0x80 ? -1.0f : 1.0f) * decode_magnitude(magnitude, 3, 7);
}

uint8_t encode_e4m3(float value) {
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value)) return 0x7F;
  if (std::fabs(value) >= 448.0f) return sign | 0x7E;
  const unsigned magnitude = encode_magnitude(value, 3, 7);
  return static_cast<uint8_t>(sign | (magnitude > 0x7E ? 0x7E : magnitude));
}

float decode_e5m2(uint8_t bits) {
  const float sign = bits & 0x80 ? -1.0f : 1.0f;
  const unsigned magnitude = bits & 0x7F;
  if (magnitude > 0x7C) return std::numeric_limits<float>::quiet_NaN();
  if (magnitude == 0x7C) return sign * std::numeric_limits<float>::infinity();
  return sign * decode_magnitude(magnitude, 2, 15);
}

uint8_t encode_e5m2(float value) {
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value)) return 0x7F;
  if (std::isinf(value)) return sign | 0x7C;
  if (std::fabs(value) >= 57344.0f) return sign | 0x7B;
  const unsigned magnitude = encode_magnitude(value, 2, 15);
  return static_cast<uint8_t>(sign | (magnitude > 0x7B ? 0x7B : magnitude));
}

float decode_e2m1(uint8_t code) {
  return (code & 8 ? -1.0f : 1.0f) * decode_magnitude(code & 7, 1, 1);
}

uint8_t encode_e2m1(float value) {
  CHECK(!std::isnan(value), "NaN has no E2M1 code");
  const uint8_t sign = std::signbit(value) ? 8 : 0;
  if (std::fabs(value) >= 6.0f) return sign | 7;
  const unsigned magnitude = encode_magnitude(value, 1, 1);
  return static_cast<uint8_t>(sign | (magnitude > 7 ? 7 : magnitude));
}

float decode_e8m0(uint8_t bits) {
  if (bits == 0xFF) return std::numeric_limits<float>::quiet_NaN();
  return std::ldexp(1.0f, static_cast<int>(bits) - 127);
}

uint8_t encode_e8m0_ceil(float value) {
  CHECK(value > 0 && std::isfinite(value), "E8M0 holds positive powers of two, got {}", value);
  int exponent = 0;
  const float fraction = std::frexp(value, &exponent);  // value = fraction * 2^exponent, fraction in [0.5, 1)
  const int ceiling = fraction == 0.5f ? exponent - 1 : exponent;
  return static_cast<uint8_t>(std::min(std::max(ceiling + 127, 0), 254));
}

}  // namespace assay::numeric
