#include "kernels/plan/reference_numeric.h"

#include <cmath>
#include <cstring>

#include "base/check.h"
#include "numeric/block_formats.h"
#include "numeric/float_formats.h"

namespace assay::kernels::reference {
namespace {

template <class T>
T load(const std::byte* base, int64_t index) {
  T value;
  std::memcpy(&value, base + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

double element(const QuantView& w, int64_t row, int64_t col) {
  const int64_t i = row * w.cols + col;
  switch (w.format) {
    case WeightFormat::f32:
      return load<float>(w.codes, i);
    case WeightFormat::bf16:
      return numeric::decode_bf16(load<uint16_t>(w.codes, i));
    case WeightFormat::f16:
      return numeric::decode_fp16(load<uint16_t>(w.codes, i));
    case WeightFormat::nvfp4: {
      const uint8_t code = static_cast<uint8_t>(load<uint8_t>(w.codes, i / 2) >> (i % 2 * 4) & 15);
      const uint8_t scale = load<uint8_t>(w.scales, i / numeric::kNvfp4Block);
      return static_cast<double>(numeric::decode_e2m1(code)) * numeric::decode_e4m3(scale) * w.global;
    }
    case WeightFormat::mxfp4: {
      const uint8_t code = static_cast<uint8_t>(load<uint8_t>(w.codes, i / 2) >> (i % 2 * 4) & 15);
      return static_cast<double>(numeric::decode_e2m1(code)) *
             numeric::decode_e8m0(load<uint8_t>(w.scales, i / numeric::kMxfp4Block));
    }
    case WeightFormat::fp8_tensor:
      return static_cast<double>(numeric::decode_e4m3(load<uint8_t>(w.codes, i))) * w.global;
    case WeightFormat::fp8_channel:
      return static_cast<double>(numeric::decode_e4m3(load<uint8_t>(w.codes, i))) *
             load<float>(w.scales, row);
    case WeightFormat::fp8_block: {
      const int64_t blocks = (w.cols + numeric::kFp8Block - 1) / numeric::kFp8Block;
      const int64_t block = row / numeric::kFp8Block * blocks + col / numeric::kFp8Block;
      return static_cast<double>(numeric::decode_e4m3(load<uint8_t>(w.codes, i))) *
             load<float>(w.scales, block);
    }
  }
  CHECK(false);
}

}  // namespace

std::vector<double> weight_row(const QuantView& weight, int64_t row) {
  std::vector<double> out(static_cast<size_t>(weight.cols));
  for (int64_t c = 0; c < weight.cols; ++c) out[static_cast<size_t>(c)] = element(weight, row, c);
  return out;
}

float round_result(double value, PrecisionClass precision) {
  const float rounded = static_cast<float>(value);
  return precision == PrecisionClass::w4a16 ? numeric::round_to_bf16(rounded) : rounded;
}

std::vector<float> matrix_input(std::span<const float> x, const QuantView& weight, PrecisionClass precision) {
  std::vector<float> out(x.begin(), x.end());
  if (precision != PrecisionClass::w4a4 || weight.format != WeightFormat::nvfp4) return out;
  float scale = weight.input_scale;
  if (scale == 0) {
    for (float v : x) scale = std::max(scale, std::fabs(v) / (numeric::kE2m1Max * numeric::kE4m3Max));
  }
  if (scale > 0) numeric::fake_quantise_nvfp4(x, scale, out);
  return out;
}

double dot(std::span<const double> weights, std::span<const float> x) {
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) sum += weights[i] * x[i];
  return sum;
}

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}
double silu(double x) {
  return x * sigmoid(x);
}

}  // namespace assay::kernels::reference
