#pragma once
// Block-scaled formats: what a group of codes with its scale means, and how a group is quantised.
// Sources: spec of NVFP4 (ModelOpt, compressed-tensors), OCP MX, DeepSeek's FP8 128x128 blocks.
#include <cstdint>
#include <span>

namespace assay::numeric {

inline constexpr int kNvfp4Block = 16;  // elements of K that share one E4M3 scale
inline constexpr int kMxfp4Block = 32;  // elements of K that share one E8M0 scale
inline constexpr int kFp8Block = 128;   // rows and columns that share one scale
inline constexpr float kE2m1Max = 6.0f;
inline constexpr float kE4m3Max = 448.0f;

// Code of element `index` in a packed row: element 2b sits in the low nibble of byte b.
uint8_t unpack_e2m1(std::span<const uint8_t> packed, int64_t index);

// One NVFP4 weight: e2m1 * e4m3 scale * global (ModelOpt: weight_scale_2; compressed-tensors: 1 /
// weight_global_scale).
float dequantise_nvfp4(uint8_t code, uint8_t scale_e4m3, float global);
// One MXFP4 weight: e2m1 * 2^(scale - 127).
float dequantise_mxfp4(uint8_t code, uint8_t scale_e8m0);

// Quantises rows of activations for class w4a4, as ModelOpt's kernels do:
//   scale = E4M3(amax of 16 / (6 * input_scale)), capped at 448; code = E2M1(x / (scale * input_scale));
// a scale that rounds to zero gives zeros. x: [count], count a multiple of 16; out: the values the GEMM then
// sees.
void fake_quantise_nvfp4(std::span<const float> x, float input_scale, std::span<float> out);

// Quantises a weight row: codes packed [count / 2], scales [count / 16]. `global` = amax of the tensor /
// 2688. Block scales are clamped to [2^-9, 448]; an all-zero block gets 1.0.
void quantise_nvfp4_row(std::span<const float> row, float global, std::span<uint8_t> packed,
                        std::span<uint8_t> scales);
void quantise_mxfp4_row(std::span<const float> row, std::span<uint8_t> packed, std::span<uint8_t> scales);

// FP8 with 128x128 blocks: scale of the block = amax / 448 (1 where the block is zero).
// weights [rows, cols] row-major -> codes [rows, cols], scales [ceil(rows/128), ceil(cols/128)].
void quantise_fp8_block(std::span<const float> weights, int64_t rows, int64_t cols, std::span<uint8_t> codes,
                        std::span<float> scales);
// Activations for w8a8 against such weights: per row and 128 columns, scale = max(amax, 1e-4) / 448.
void fake_quantise_fp8_groups(std::span<const float> x, std::span<float> out);

}  // namespace assay::numeric
