#include "base/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/check.h"

namespace assay {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;

}  // namespace

void Arena::Free::operator()(std::byte* p) const {
  ::operator delete[](p, std::align_val_t{kAlignment});
}

std::byte* Arena::allocate(size_t bytes) {
  const size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  if (rounded > left_) {
    const size_t chunk = std::max(rounded, kChunkBytes);
    chunks_.emplace_back(static_cast<std::byte*>(::operator new[](chunk, std::align_val_t{kAlignment})));
    // A large tensor gets a chunk of its own; the current chunk stays open for small ones.
    if (rounded >= kChunkBytes / 4) {
      allocated_ += rounded;
      if (chunk - rounded <= left_) return chunks_.back().get();
      next_ = chunks_.back().get() + rounded;
      left_ = chunk - rounded;
      return chunks_.back().get();
    }
    next_ = chunks_.back().get();
    left_ = chunk;
  }
  std::byte* result = next_;
  next_ += rounded;
  left_ -= rounded;
  allocated_ += rounded;
  return result;
}

const std::byte* Arena::copy(const void* data, size_t bytes) {
  if (borrow_) return static_cast<const std::byte*>(data);
  std::byte* to = allocate(bytes);
  if (bytes > 0) std::memcpy(to, data, bytes);
  return to;
}

LazyBuffer::LazyBuffer(size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(p != MAP_FAILED, "cannot reserve {} bytes", bytes);
  data_ = static_cast<std::byte*>(p);
}

LazyBuffer::~LazyBuffer() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace assay
