#include "tensor/quant_view.h"

namespace assay {

std::string_view name_of(WeightFormat format) {
  switch (format) {
    case WeightFormat::f32:
      return "f32";
    case WeightFormat::bf16:
      return "bf16";
    case WeightFormat::f16:
      return "f16";
    case WeightFormat::nvfp4:
      return "nvfp4";
    case WeightFormat::mxfp4:
      return "mxfp4";
    case WeightFormat::fp8_tensor:
      return "fp8_tensor";
    case WeightFormat::fp8_channel:
      return "fp8_channel";
    case WeightFormat::fp8_block:
      return "fp8_block";
  }
  return "?";
}

int64_t code_bytes(WeightFormat format, int64_t rows, int64_t cols) {
  switch (format) {
    case WeightFormat::f32:
      return rows * cols * 4;
    case WeightFormat::bf16:
    case WeightFormat::f16:
      return rows * cols * 2;
    case WeightFormat::nvfp4:
    case WeightFormat::mxfp4:
      return rows * cols / 2;
    default:
      return rows * cols;
  }
}

int64_t scale_bytes(WeightFormat format, int64_t rows, int64_t cols) {
  switch (format) {
    case WeightFormat::nvfp4:
      return rows * cols / 16;
    case WeightFormat::mxfp4:
      return rows * cols / 32;
    case WeightFormat::fp8_channel:
      return rows * 4;
    case WeightFormat::fp8_block:
      return (rows + 127) / 128 * ((cols + 127) / 128) * 4;
    default:
      return 0;
  }
}

}  // namespace assay
