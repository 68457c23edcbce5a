#include "kernels/plan/reference_numeric.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/unaligned.h"
#include "numeric/block_formats.h"
#include "numeric/float_formats.h"

namespace assay::kernels::reference {
namespace {

// Every code of a small format, decoded by its definition.
template <int kCodes, class Decode>
std::array<double, kCodes> decode_all(const Decode& decode) {
  std::array<double, kCodes> values{};
  for (int code = 0; code < kCodes; ++code)
    values[static_cast<size_t>(code)] = decode(static_cast<uint8_t>(code));
  return values;
}

// The row's elements as they are stored, before any scale.
void decode_codes(const QuantView& w, int64_t row, std::vector<double>& out) {
  static const auto kE2m1 = decode_all<16>(numeric::decode_e2m1);
  static const auto kE4m3 = decode_all<256>(numeric::decode_e4m3);
  const int64_t first = row * w.cols;
  for (int64_t c = 0; c < w.cols; ++c) {
    double& value = out[static_cast<size_t>(c)];
    switch (w.format) {
      case WeightFormat::f32:
        value = load_unaligned<float>(w.codes, first + c);
        break;
      case WeightFormat::bf16:
        value = numeric::decode_bf16(load_unaligned<uint16_t>(w.codes, first + c));
        break;
      case WeightFormat::f16:
        value = numeric::decode_fp16(load_unaligned<uint16_t>(w.codes, first + c));
        break;
      case WeightFormat::nvfp4:
      case WeightFormat::mxfp4: {
        const uint8_t byte = load_unaligned<uint8_t>(w.codes, (first + c) / 2);
        value = kE2m1[(first + c) % 2 == 0 ? byte & 15 : byte >> 4];
        break;
      }
      default:
        value = kE4m3[load_unaligned<uint8_t>(w.codes, first + c)];
    }
  }
}

// What multiplies elements [c * block, (c + 1) * block) of the row besides the global.
double block_scale(const QuantView& w, int64_t row, int64_t block) {
  switch (w.format) {
    case WeightFormat::nvfp4:
      return numeric::decode_e4m3(
          load_unaligned<uint8_t>(w.scales, row * (w.cols / numeric::kNvfp4Block) + block));
    case WeightFormat::mxfp4:
      return numeric::decode_e8m0(
          load_unaligned<uint8_t>(w.scales, row * (w.cols / numeric::kMxfp4Block) + block));
    case WeightFormat::fp8_channel:
      return load_unaligned<float>(w.scales, row);
    case WeightFormat::fp8_block: {
      const int64_t blocks = (w.cols + numeric::kFp8Block - 1) / numeric::kFp8Block;
      return load_unaligned<float>(w.scales, row / numeric::kFp8Block * blocks + block);
    }
    default:
      return 1;
  }
}

int64_t block_length(const QuantView& w) {
  switch (w.format) {
    case WeightFormat::nvfp4:
      return numeric::kNvfp4Block;
    case WeightFormat::mxfp4:
      return numeric::kMxfp4Block;
    case WeightFormat::fp8_block:
      return numeric::kFp8Block;
    default:
      return w.cols;
  }
}

}  // namespace

std::vector<double> weight_row(const QuantView& weight, int64_t row) {
  std::vector<double> out(static_cast<size_t>(weight.cols));
  decode_codes(weight, row, out);
  const int64_t block = block_length(weight);
  for (int64_t begin = 0; begin < weight.cols; begin += block) {
    const double scale = block_scale(weight, row, begin / block) * weight.global;
    for (int64_t c = begin; c < std::min(begin + block, weight.cols); ++c)
      out[static_cast<size_t>(c)] *= scale;
  }
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
