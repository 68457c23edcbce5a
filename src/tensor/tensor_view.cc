#include "tensor/tensor_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "base/check.h"
#include "numeric/float_formats.h"

namespace assay {
namespace {

template <class T>
T load(const std::byte* data, int64_t i) {
  T value;
  std::memcpy(&value, data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

}  // namespace

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

float element_as_float(const TensorView& tensor, int64_t i) {
  switch (tensor.dtype) {
    case DType::f32:
      return load<float>(tensor.data, i);
    case DType::bf16:
      return numeric::decode_bf16(load<uint16_t>(tensor.data, i));
    case DType::f16:
      return numeric::decode_fp16(load<uint16_t>(tensor.data, i));
    case DType::f64:
      return static_cast<float>(load<double>(tensor.data, i));
    case DType::f8_e4m3:
      return numeric::decode_e4m3(load<uint8_t>(tensor.data, i));
    case DType::f8_e5m2:
      return numeric::decode_e5m2(load<uint8_t>(tensor.data, i));
    case DType::f8_e8m0:
      return numeric::decode_e8m0(load<uint8_t>(tensor.data, i));
    default:
      CHECK(false, "{} is not a float type", name_of(tensor.dtype));
  }
  return 0;
}

}  // namespace assay
