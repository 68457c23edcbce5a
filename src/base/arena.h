#pragma once
// Arena: bump allocation of aligned memory that lives as long as the arena. Owner of packed weights.
#include <cstddef>
#include <memory>
#include <vector>

namespace assay {

inline constexpr size_t kAlignment = 64;  // bytes: a cache line, and the widest vector register

class Arena {
 public:
  Arena() = default;
  // With `borrow`, copy() hands back the given pointer: the bytes must outlive the arena's users.
  explicit Arena(bool borrow) : borrow_(borrow) {}
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  // Uninitialised, aligned to kAlignment. Never returns null.
  std::byte* allocate(size_t bytes);
  // A copy of `bytes` bytes at `data` (or `data` itself, see above).
  const std::byte* copy(const void* data, size_t bytes);
  size_t allocated_bytes() const { return allocated_; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::vector<std::unique_ptr<std::byte[], Free>> chunks_;
  bool borrow_ = false;
  std::byte* next_ = nullptr;
  size_t left_ = 0;
  size_t allocated_ = 0;
};

// LazyBuffer: owner of zeroed memory whose pages the kernel commits on first touch (caches, activations).
class LazyBuffer {
 public:
  LazyBuffer() = default;
  explicit LazyBuffer(size_t bytes);
  LazyBuffer(LazyBuffer&& other) noexcept { swap(other); }
  LazyBuffer& operator=(LazyBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~LazyBuffer();

  std::byte* data() const { return data_; }
  float* floats() const { return reinterpret_cast<float*>(data_); }
  size_t bytes() const { return bytes_; }

 private:
  void swap(LazyBuffer& other) {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace assay
