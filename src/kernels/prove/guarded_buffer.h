#pragma once
// GuardedBuffer: memory whose neighbours cannot be touched unseen. The data ends at an unmapped page (reads
// and writes past the end crash at once, up to alignment) and begins behind an unmapped page; the bytes
// between are filled with a pattern that intact() checks.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::kernels {

class GuardedBuffer {
 public:
  explicit GuardedBuffer(size_t bytes);
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;
  ~GuardedBuffer();

  template <class T>
  static GuardedBuffer of(const std::vector<T>& values) {
    GuardedBuffer buffer(values.size() * sizeof(T));
    buffer.fill(values.data());
    return buffer;
  }

  std::byte* data() const { return data_; }
  float* floats() const { return reinterpret_cast<float*>(data_); }
  std::span<float> as_floats() const { return {floats(), bytes_ / sizeof(float)}; }
  void poison() const;  // every byte 0xFF: each float a NaN
  bool intact() const;

 private:
  void fill(const void* bytes) const;
  std::byte* map_ = nullptr;
  size_t map_bytes_ = 0;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace assay::kernels
