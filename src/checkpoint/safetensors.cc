#include "checkpoint/safetensors.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace assay::checkpoint {
namespace {

using simdjson::dom::element;

Result<std::vector<int64_t>> parse_shape(const std::string& name, element value) {
  simdjson::dom::array dims;
  if (value.get(dims)) return Error{fmt::format("tensor {}: shape is not a list", name)};
  if (dims.size() > kMaxRank) {
    return Error{fmt::format("tensor {}: rank {} found, at most {} is read", name, dims.size(), kMaxRank)};
  }
  std::vector<int64_t> shape;
  for (element dim : dims) {
    uint64_t n = 0;
    if (dim.get(n) || n > (uint64_t{1} << 48)) {
      return Error{fmt::format("tensor {}: a dimension is not an integer in [0, 2^48]", name)};
    }
    shape.push_back(static_cast<int64_t>(n));
  }
  return shape;
}

// Bytes of dtype x shape, or nullopt on overflow.
std::optional<uint64_t> byte_count(DType dtype, const std::vector<int64_t>& shape) {
  uint64_t bytes = static_cast<uint64_t>(bytes_of(dtype));
  for (int64_t dim : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) return std::nullopt;
  }
  return bytes;
}

Result<void> parse_offsets(element value, TensorEntry* entry) {
  simdjson::dom::array offsets;
  if (value.get(offsets) || offsets.size() != 2 || offsets.at(0).get(entry->begin) ||
      offsets.at(1).get(entry->end)) {
    return Error{fmt::format("tensor {}: data_offsets is not a pair of non-negative integers", entry->name)};
  }
  return {};
}

Result<TensorEntry> parse_entry(std::string_view name, element value, uint64_t data_bytes) {
  TensorEntry entry;
  entry.name = name;
  if (name.empty() || name.size() > kMaxNameBytes) {
    return Error{fmt::format("a tensor name has {} bytes; 1 to {} are read", name.size(), kMaxNameBytes)};
  }
  simdjson::dom::object fields;
  if (value.get(fields)) return Error{fmt::format("tensor {}: entry is not an object", name)};
  int seen = 0;
  for (auto [key, field] : fields) {
    if (key == "dtype") {
      std::string_view text;
      if (field.get(text)) return Error{fmt::format("tensor {}: dtype is not a string", name)};
      const auto dtype = dtype_from_name(text);
      if (!dtype) return Error{fmt::format("tensor {}: dtype {} is not read by this engine", name, text)};
      entry.dtype = *dtype;
      seen |= 1;
    } else if (key == "shape") {
      auto shape = parse_shape(entry.name, field);
      if (!shape) return shape.error();
      entry.shape = *std::move(shape);
      seen |= 2;
    } else if (key == "data_offsets") {
      if (auto parsed = parse_offsets(field, &entry); !parsed) return parsed.error();
      seen |= 4;
    }
  }
  if (seen != 7) return Error{fmt::format("tensor {}: needs dtype, shape and data_offsets", name)};
  if (entry.begin > entry.end || entry.end > data_bytes) {
    return Error{fmt::format("tensor {}: bytes [{}, {}) lie outside the file's {} bytes of data", name,
                             entry.begin, entry.end, data_bytes)};
  }
  const auto expected = byte_count(entry.dtype, entry.shape);
  if (!expected || *expected != entry.end - entry.begin) {
    return Error{fmt::format("tensor {}: {} {} needs {} bytes, its offsets span {}", name,
                             name_of(entry.dtype), shape_text(entry.shape),
                             expected ? std::to_string(*expected) : "more than 2^64",
                             entry.end - entry.begin)};
  }
  return entry;
}

// Every byte of the data belongs to exactly one tensor.
Result<void> check_coverage(const std::vector<TensorEntry>& entries, uint64_t data_bytes) {
  std::vector<const TensorEntry*> order;
  for (const TensorEntry& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const TensorEntry* a, const TensorEntry* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  uint64_t covered = 0;
  for (const TensorEntry* entry : order) {
    if (entry->begin != covered) {
      return Error{fmt::format("tensor {} begins at byte {}, expected {}: tensors {}", entry->name,
                               entry->begin, covered, entry->begin < covered ? "overlap" : "leave a hole")};
    }
    covered = entry->end;
  }
  if (covered != data_bytes) {
    return Error{fmt::format("tensors cover {} bytes, the file holds {}: cut off or trailing data", covered,
                             data_bytes)};
  }
  return {};
}

}  // namespace

Result<std::vector<TensorEntry>> parse_safetensors_header(std::string_view json, uint64_t data_bytes) {
  if (json.empty() || json.front() != '{') return Error{"the header does not start with '{'"};
  simdjson::dom::parser parser;
  simdjson::dom::object root;
  if (auto error = parser.parse(json.data(), json.size()).get(root)) {
    return Error{fmt::format("the header is not a JSON object: {}", simdjson::error_message(error))};
  }
  std::vector<TensorEntry> entries;
  std::unordered_set<std::string_view> names;
  for (auto [name, value] : root) {
    if (!names.insert(name).second) return Error{fmt::format("tensor {} is named twice", name)};
    if (name == "__metadata__") continue;
    auto entry = parse_entry(name, value, data_bytes);
    if (!entry) return entry.error();
    entries.push_back(*std::move(entry));
  }
  if (auto covered = check_coverage(entries, data_bytes); !covered) return covered.error();
  return entries;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  auto mapped = MappedFile::open(path);
  if (!mapped) return mapped.error();
  SafetensorsFile file(*std::move(mapped));
  const auto refuse = [&](const std::string& why) { return Error{fmt::format("{}: {}", path, why)}; };
  const uint64_t size = file.file_.size();
  uint64_t header_bytes = 0;
  if (size < 8) return refuse(fmt::format("has {} bytes: not a safetensors file", size));
  std::memcpy(&header_bytes, file.file_.data(), 8);
  if (header_bytes > kMaxHeaderBytes) {
    return refuse(
        fmt::format("declares a header of {} bytes, at most {} are read", header_bytes, kMaxHeaderBytes));
  }
  if (header_bytes > size - 8) {
    return refuse(fmt::format("declares a header of {} bytes but holds only {}", header_bytes, size - 8));
  }
  file.data_offset_ = 8 + header_bytes;
  const std::string_view json(reinterpret_cast<const char*>(file.file_.data()) + 8, header_bytes);
  auto entries = parse_safetensors_header(json, size - file.data_offset_);
  if (!entries) return refuse(entries.reason());
  file.entries_ = *std::move(entries);
  return file;
}

TensorView SafetensorsFile::view(const TensorEntry& entry) const {
  return {file_.data() + data_offset_ + entry.begin, entry.dtype, entry.shape};
}

}  // namespace assay::checkpoint
