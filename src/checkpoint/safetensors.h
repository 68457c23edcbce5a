#pragma once
// The safetensors container: u64 header length, JSON header, data. Nothing in a file is trusted.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "tensor/tensor_view.h"

namespace assay::checkpoint {

inline constexpr uint64_t kMaxHeaderBytes = uint64_t{32} << 20;
inline constexpr int kMaxRank = 8;
inline constexpr size_t kMaxNameBytes = 512;

struct TensorEntry {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  uint64_t begin = 0;  // bytes from the start of the data
  uint64_t end = 0;
};

// Parses and validates a header against the length of the data that follows it. Refused: a byte not covered
// by exactly one tensor, sizes that do not match dtype x shape, unknown dtypes, duplicate or overlong names,
// rank above 8.
Result<std::vector<TensorEntry>> parse_safetensors_header(std::string_view json, uint64_t data_bytes);

class SafetensorsFile {
 public:
  static Result<SafetensorsFile> open(const std::string& path);
  const std::vector<TensorEntry>& entries() const { return entries_; }
  TensorView view(const TensorEntry& entry) const;
  const std::string& path() const { return file_.path(); }

 private:
  explicit SafetensorsFile(MappedFile file) : file_(std::move(file)) {}
  MappedFile file_;
  uint64_t data_offset_ = 0;
  std::vector<TensorEntry> entries_;
};

}  // namespace assay::checkpoint
