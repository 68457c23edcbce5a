#include "kernels/cpu/rows.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "kernels/cpu/clones.h"

namespace assay::kernels::cpu {
namespace {

constexpr int kLanes = 32;  // independent partial sums: two 512-bit or four 256-bit registers in flight

constexpr float power_of_two(int exponent) {
  return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
}

constexpr float e2m1_value(int code) {
  constexpr float kMagnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  return code & 8 ? -kMagnitudes[code & 7] : kMagnitudes[code & 7];
}

constexpr float e4m3_value(int bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  if ((bits & 0x7F) == 0x7F) return std::bit_cast<float>(0x7FC00000u);
  const float magnitude = exponent == 0 ? static_cast<float>(fraction) * power_of_two(-9)
                                        : static_cast<float>(8 + fraction) * power_of_two(exponent - 10);
  return bits & 0x80 ? -magnitude : magnitude;
}

struct Pair {
  float low, high;
};

constexpr std::array<Pair, 256> kE2m1Pairs = [] {
  std::array<Pair, 256> table{};
  for (int byte = 0; byte < 256; ++byte) {
    table[static_cast<size_t>(byte)] = {e2m1_value(byte & 15), e2m1_value(byte >> 4)};
  }
  return table;
}();

constexpr std::array<float, 256> kE4m3 = [] {
  std::array<float, 256> table{};
  for (int bits = 0; bits < 256; ++bits) table[static_cast<size_t>(bits)] = e4m3_value(bits);
  return table;
}();

void decode_e2m1(const uint8_t* packed, int64_t cols, float* out) {
  for (int64_t b = 0; b < cols / 2; ++b) std::memcpy(out + 2 * b, &kE2m1Pairs[packed[b]], sizeof(Pair));
}

// Multiplies groups of `group` elements by their scale.
template <int kGroup, class Scale>
inline void scale_groups(float* out, int64_t cols, const Scale& scale) {
  for (int64_t g = 0; g < cols / kGroup; ++g) {
    const float s = scale(g);
    for (int i = 0; i < kGroup; ++i) out[g * kGroup + i] *= s;
  }
}

ASSAY_CLONES void scale_nvfp4(float* out, int64_t cols, const uint8_t* scales) {
  scale_groups<16>(out, cols, [&](int64_t g) { return kE4m3[scales[g]]; });
}

ASSAY_CLONES void scale_mxfp4(float* out, int64_t cols, const uint8_t* scales) {
  // 2^(s - 127); s = 0 is subnormal and cannot be made by placing exponent bits.
  scale_groups<32>(out, cols, [&](int64_t g) {
    return scales[g] == 0 ? std::bit_cast<float>(0x00400000u)
                          : std::bit_cast<float>(static_cast<uint32_t>(scales[g]) << 23);
  });
}

ASSAY_CLONES void decode_bf16(const uint16_t* codes, int64_t cols, float* out) {
  for (int64_t i = 0; i < cols; ++i) {
    const uint32_t bits = static_cast<uint32_t>(codes[i]) << 16;
    std::memcpy(out + i, &bits, 4);
  }
}

float f16_value(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t magnitude = bits & 0x7FFF;
  if (magnitude >= 0x7C00) return std::bit_cast<float>(sign | 0x7F800000u | (magnitude & 0x3FF) << 13);
  // Placed 112 exponents too low; one exact multiplication repairs normals and subnormals alike.
  const float value = std::bit_cast<float>(magnitude << 13) * power_of_two(112);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
}

void decode_fp8(const uint8_t* codes, int64_t cols, float* out) {
  for (int64_t i = 0; i < cols; ++i) out[i] = kE4m3[codes[i]];
}

void decode_fp8_block(const QuantView& w, int64_t row, float* out) {
  const int64_t blocks = (w.cols + 127) / 128;
  const auto* codes = reinterpret_cast<const uint8_t*>(w.codes) + row * w.cols;
  const auto* scales = reinterpret_cast<const float*>(w.scales) + row / 128 * blocks;
  for (int64_t i = 0; i < w.cols; ++i) out[i] = kE4m3[codes[i]] * scales[i / 128];
}

}  // namespace

void decode_row(const QuantView& w, int64_t row, float* out) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(w.codes);
  const auto* scales = reinterpret_cast<const uint8_t*>(w.scales);
  switch (w.format) {
    case WeightFormat::f32:
      std::memcpy(out, bytes + row * w.cols * 4, static_cast<size_t>(w.cols) * 4);
      return;
    case WeightFormat::bf16:
      decode_bf16(reinterpret_cast<const uint16_t*>(bytes) + row * w.cols, w.cols, out);
      return;
    case WeightFormat::f16: {
      const auto* codes = reinterpret_cast<const uint16_t*>(bytes) + row * w.cols;
      for (int64_t i = 0; i < w.cols; ++i) out[i] = f16_value(codes[i]);
      return;
    }
    case WeightFormat::nvfp4:
      decode_e2m1(bytes + row * w.cols / 2, w.cols, out);
      scale_nvfp4(out, w.cols, scales + row * w.cols / 16);
      return;
    case WeightFormat::mxfp4:
      decode_e2m1(bytes + row * w.cols / 2, w.cols, out);
      scale_mxfp4(out, w.cols, scales + row * w.cols / 32);
      return;
    case WeightFormat::fp8_tensor:
    case WeightFormat::fp8_channel:
      decode_fp8(bytes + row * w.cols, w.cols, out);
      return;
    case WeightFormat::fp8_block:
      decode_fp8_block(w, row, out);
      return;
  }
  CHECK(false);
}

float row_factor(const QuantView& w, int64_t row) {
  if (w.format == WeightFormat::fp8_channel) return reinterpret_cast<const float*>(w.scales)[row];
  return w.global;
}

ASSAY_CLONES float dot(const float* a, const float* b, int64_t n) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] += a[i + j] * b[i + j];
  }
  for (int j = 0; i < n; ++i, ++j) lanes[j] += a[i] * b[i];
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  }
  return lanes[0];
}

ASSAY_CLONES void add_scaled(float a, const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

float sigmoid(float x) {
  return 1.0f / (1.0f + std::exp(-x));
}
float silu(float x) {
  return x / (1.0f + std::exp(-x));
}

}  // namespace assay::kernels::cpu
