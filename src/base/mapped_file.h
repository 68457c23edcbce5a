#pragma once
// MappedFile: a whole file, read-only, in memory while the object lives.
#include <cstddef>
#include <string>
#include <utility>

#include "base/result.h"

namespace assay {

class MappedFile {
 public:
  static Result<MappedFile> open(
      const std::string& path);  // follows symlinks; an empty file maps to no bytes
  MappedFile(MappedFile&& other) noexcept { swap(other); }
  MappedFile& operator=(MappedFile&& other) noexcept {
    swap(other);
    return *this;
  }
  ~MappedFile();

  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  MappedFile() = default;
  void swap(MappedFile& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(path_, other.path_);
  }
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::string path_;
};

// The whole file as text; refuses files above `limit` bytes.
Result<std::string> read_file(const std::string& path, size_t limit);

}  // namespace assay
