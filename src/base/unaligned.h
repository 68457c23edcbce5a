#pragma once
// Reading numbers from bytes that may lie anywhere: tensors in a mapped file are not aligned.
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace assay {

// Element `index` of an array of T that starts at `data`.
template <class T>
T load_unaligned(const std::byte* data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

}  // namespace assay
