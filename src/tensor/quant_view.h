#pragma once
// QuantView: one weight matrix [rows, cols] in the format it has on disk. rows = outputs (N), cols = inputs
// (K).
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay {

enum class WeightFormat : uint8_t {
  f32,          // codes: float [rows, cols]
  bf16,         // codes: bf16
  f16,          // codes: IEEE half
  nvfp4,        // codes: two E2M1 a byte [rows, cols/2]; scales: E4M3 [rows, cols/16]; times global
  mxfp4,        // codes: two E2M1 a byte [rows, cols/2]; scales: E8M0 [rows, cols/32]
  fp8_tensor,   // codes: E4M3 [rows, cols]; times global
  fp8_channel,  // codes: E4M3; scales: float [rows]
  fp8_block,    // codes: E4M3; scales: float [ceil(rows/128), ceil(cols/128)]
};

std::string_view name_of(WeightFormat format);
// Bytes of codes and of scales of one [rows, cols] matrix.
int64_t code_bytes(WeightFormat format, int64_t rows, int64_t cols);
int64_t scale_bytes(WeightFormat format, int64_t rows, int64_t cols);

struct QuantView {
  WeightFormat format = WeightFormat::f32;
  int64_t rows = 0;
  int64_t cols = 0;
  const std::byte* codes = nullptr;
  const std::byte* scales = nullptr;
  float global = 1.0f;       // multiplies every element (compressed-tensors' reciprocal is already taken)
  float input_scale = 0.0f;  // activations' amax / 2688 (NVFP4) or / 448 (FP8); 0 = not stored

  int64_t bytes() const { return code_bytes(format, rows, cols) + scale_bytes(format, rows, cols); }
};

}  // namespace assay
