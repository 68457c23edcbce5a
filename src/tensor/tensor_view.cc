#include "tensor/tensor_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/unaligned.h"
#include "numeric/float_formats.h"

namespace assay {
std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

float element_as_float(const TensorView& tensor, int64_t i) {
  switch (tensor.dtype) {
    case DType::f32:
      return load_unaligned<float>(tensor.data, i);
    case DType::bf16:
      return numeric::decode_bf16(load_unaligned<uint16_t>(tensor.data, i));
    case DType::f16:
      return numeric::decode_fp16(load_unaligned<uint16_t>(tensor.data, i));
    case DType::f64:
      return static_cast<float>(load_unaligned<double>(tensor.data, i));
    case DType::f8_e4m3:
      return numeric::decode_e4m3(load_unaligned<uint8_t>(tensor.data, i));
    case DType::f8_e5m2:
      return numeric::decode_e5m2(load_unaligned<uint8_t>(tensor.data, i));
    case DType::f8_e8m0:
      return numeric::decode_e8m0(load_unaligned<uint8_t>(tensor.data, i));
    default:
      CHECK(false, "{} is not a float type", name_of(tensor.dtype));
  }
  return 0;
}

}  // namespace assay
