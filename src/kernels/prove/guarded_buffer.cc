#include "kernels/prove/guarded_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/arena.h"
#include "base/check.h"

namespace assay::kernels {
namespace {

constexpr std::byte kPattern{0xA5};

}  // namespace

GuardedBuffer::GuardedBuffer(size_t bytes) : bytes_(bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // At least one pattern page lies in front, so that writes before the start are seen and not only far ones.
  const size_t inner = (bytes + kAlignment + page - 1) / page * page + page;
  map_bytes_ = inner + 2 * page;
  void* p = mmap(nullptr, map_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(p != MAP_FAILED, "cannot map {} bytes", map_bytes_);
  map_ = static_cast<std::byte*>(p);
  CHECK(mprotect(map_, page, PROT_NONE) == 0 && mprotect(map_ + page + inner, page, PROT_NONE) == 0);
  std::fill_n(map_ + page, inner, kPattern);
  data_ = map_ + page + inner - (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : map_(std::exchange(other.map_, nullptr)),
      map_bytes_(other.map_bytes_),
      data_(other.data_),
      bytes_(other.bytes_) {}

GuardedBuffer::~GuardedBuffer() {
  if (map_ != nullptr) munmap(map_, map_bytes_);
}

void GuardedBuffer::fill(const void* bytes) const {
  if (bytes_ > 0) std::memcpy(data_, bytes, bytes_);
}

void GuardedBuffer::poison() const {
  std::memset(data_, 0xFF, bytes_);
}

bool GuardedBuffer::intact() const {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto is_pattern = [](std::byte b) { return b == kPattern; };
  return std::all_of(map_ + page, data_, is_pattern) &&
         std::all_of(data_ + bytes_, map_ + map_bytes_ - page, is_pattern);
}

}  // namespace assay::kernels
