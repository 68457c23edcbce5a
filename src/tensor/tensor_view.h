#pragma once
// TensorView: a window on memory that somebody else owns. Row-major, no strides.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace assay {

struct TensorView {
  const std::byte* data = nullptr;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;  // empty = scalar

  int64_t elements() const {
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    return n;
  }
  int64_t bytes() const { return elements() * bytes_of(dtype); }
};

std::string shape_text(const std::vector<int64_t>& shape);  // "[4, 256]"
// Element `i` as float; integer types are not numbers here (CHECK). Data may be unaligned.
float element_as_float(const TensorView& tensor, int64_t i);

}  // namespace assay
