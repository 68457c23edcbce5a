#include "numeric/block_formats.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "numeric/float_formats.h"

namespace assay::numeric {
namespace {

float largest_magnitude(std::span<const float> values) {
  float amax = 0;
  for (float v : values) amax = std::max(amax, std::fabs(v));
  return amax;
}

void pack_e2m1(std::span<const float> scaled, std::span<uint8_t> packed) {
  for (size_t i = 0; i < scaled.size(); i += 2) {
    packed[i / 2] = static_cast<uint8_t>(encode_e2m1(scaled[i]) | encode_e2m1(scaled[i + 1]) << 4);
  }
}

}  // namespace

uint8_t unpack_e2m1(std::span<const uint8_t> packed, int64_t index) {
  const uint8_t byte = packed[static_cast<size_t>(index / 2)];
  return index % 2 == 0 ? byte & 15 : byte >> 4;
}

float dequantise_nvfp4(uint8_t code, uint8_t scale_e4m3, float global) {
  return decode_e2m1(code) * decode_e4m3(scale_e4m3) * global;
}

float dequantise_mxfp4(uint8_t code, uint8_t scale_e8m0) {
  return decode_e2m1(code) * decode_e8m0(scale_e8m0);
}

void fake_quantise_nvfp4(std::span<const float> x, float input_scale, std::span<float> out) {
  CHECK(x.size() % kNvfp4Block == 0 && out.size() == x.size());
  for (size_t begin = 0; begin < x.size(); begin += kNvfp4Block) {
    const auto block = x.subspan(begin, kNvfp4Block);
    const float scale = decode_e4m3(encode_e4m3(largest_magnitude(block) / (kE2m1Max * input_scale)));
    const float step = scale * input_scale;
    for (size_t i = 0; i < block.size(); ++i) {
      out[begin + i] = step == 0 ? 0.0f : decode_e2m1(encode_e2m1(block[i] / step)) * step;
    }
  }
}

void quantise_nvfp4_row(std::span<const float> row, float global, std::span<uint8_t> packed,
                        std::span<uint8_t> scales) {
  CHECK(row.size() % kNvfp4Block == 0 && packed.size() == row.size() / 2);
  float scaled[kNvfp4Block];
  for (size_t b = 0; b < row.size() / kNvfp4Block; ++b) {
    const auto block = row.subspan(b * kNvfp4Block, kNvfp4Block);
    const float amax = largest_magnitude(block);
    const float wanted = amax == 0 ? 1.0f : std::clamp(amax / (kE2m1Max * global), 0x1p-9f, kE4m3Max);
    scales[b] = encode_e4m3(wanted);
    const float step = decode_e4m3(scales[b]) * global;
    for (int i = 0; i < kNvfp4Block; ++i) scaled[i] = block[static_cast<size_t>(i)] / step;
    pack_e2m1(scaled, packed.subspan(b * kNvfp4Block / 2, kNvfp4Block / 2));
  }
}

void quantise_mxfp4_row(std::span<const float> row, std::span<uint8_t> packed, std::span<uint8_t> scales) {
  CHECK(row.size() % kMxfp4Block == 0 && packed.size() == row.size() / 2);
  float scaled[kMxfp4Block];
  for (size_t b = 0; b < row.size() / kMxfp4Block; ++b) {
    const auto block = row.subspan(b * kMxfp4Block, kMxfp4Block);
    const float amax = largest_magnitude(block);
    scales[b] = amax == 0 ? 127 : encode_e8m0_ceil(amax / kE2m1Max);
    const float step = decode_e8m0(scales[b]);
    for (int i = 0; i < kMxfp4Block; ++i) scaled[i] = block[static_cast<size_t>(i)] / step;
    pack_e2m1(scaled, packed.subspan(b * kMxfp4Block / 2, kMxfp4Block / 2));
  }
}

void quantise_fp8_block(std::span<const float> weights, int64_t rows, int64_t cols, std::span<uint8_t> codes,
                        std::span<float> scales) {
  const int64_t col_blocks = (cols + kFp8Block - 1) / kFp8Block;
  const auto block_of = [&](int64_t r, int64_t c) {
    return static_cast<size_t>(r / kFp8Block * col_blocks + c / kFp8Block);
  };
  std::fill(scales.begin(), scales.end(), 0.0f);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      float& amax = scales[block_of(r, c)];
      amax = std::max(amax, std::fabs(weights[static_cast<size_t>(r * cols + c)]));
    }
  }
  for (float& scale : scales) scale = scale == 0 ? 1.0f : scale / kE4m3Max;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const size_t i = static_cast<size_t>(r * cols + c);
      codes[i] = encode_e4m3(weights[i] / scales[block_of(r, c)]);
    }
  }
}

void fake_quantise_fp8_groups(std::span<const float> x, std::span<float> out) {
  CHECK(out.size() == x.size());
  for (size_t begin = 0; begin < x.size(); begin += kFp8Block) {
    const auto group = x.subspan(begin, std::min<size_t>(kFp8Block, x.size() - begin));
    const float scale = std::max(largest_magnitude(group), 1e-4f) / kE4m3Max;
    for (size_t i = 0; i < group.size(); ++i)
      out[begin + i] = decode_e4m3(encode_e4m3(group[i] / scale)) * scale;
  }
}

}  // namespace assay::numeric
