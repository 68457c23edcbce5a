#include "checkpoint/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <filesystem>
#include <map>

namespace assay::checkpoint {
namespace {

namespace fs = std::filesystem;
constexpr const char* kIndexName = "model.safetensors.index.json";
constexpr const char* kSingleName = "model.safetensors";

// tensor -> file, as the index says.
using WeightMap = std::map<std::string, std::string>;

Result<WeightMap> read_index(const std::string& path) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (auto error = parser.load(path).get(root)) {
    return Error{fmt::format("{}: {}", path, simdjson::error_message(error))};
  }
  simdjson::dom::object entries;
  if (root["weight_map"].get(entries)) return Error{path + ": has no object weight_map"};
  WeightMap map;
  for (auto [tensor, value] : entries) {
    std::string_view file;
    if (value.get(file)) return Error{fmt::format("{}: weight_map[{}] is not a file name", path, tensor)};
    if (file.empty() || file.find('/') != file.npos || file.find('\0') != file.npos || file == "..") {
      return Error{fmt::format("{}: weight_map[{}] = {:?}: only plain file names of the same folder are read",
                               path, tensor, file)};
    }
    if (!map.emplace(tensor, file).second) return Error{fmt::format("{}: {} is mapped twice", path, tensor)};
  }
  if (map.empty()) return Error{path + ": weight_map is empty"};
  return map;
}

std::string join_problems(const std::string& folder, const std::vector<std::string>& problems) {
  return fmt::format("{}: {} problem{} with the weight files:\n  {}", folder, problems.size(),
                     problems.size() == 1 ? "" : "s", fmt::join(problems, "\n  "));
}

}  // namespace

Result<void> Checkpoint::add_file(const std::string& folder, const std::string& file) {
  auto opened = SafetensorsFile::open((fs::path(folder) / file).string());
  if (!opened) return opened.error();
  const int index = static_cast<int>(files_.size());
  files_.push_back(*std::move(opened));
  for (const TensorEntry& entry : files_.back().entries()) {
    tensors_.push_back({entry.name, files_.back().view(entry), index});
  }
  return {};
}

Result<Checkpoint> Checkpoint::open(const std::string& folder) {
  Checkpoint checkpoint;
  std::error_code ignored;
  WeightMap index;
  std::vector<std::string> files, problems;
  if (fs::exists(fs::path(folder) / kIndexName, ignored)) {
    auto read = read_index((fs::path(folder) / kIndexName).string());
    if (!read) return read.error();
    index = *std::move(read);
    std::map<std::string, int> named;
    for (const auto& [tensor, file] : index) named[file]++;
    for (const auto& [file, count] : named) files.push_back(file);
  } else if (fs::exists(fs::path(folder) / kSingleName, ignored)) {
    files.push_back(kSingleName);
  } else {
    return Error{fmt::format("{}: found neither {} nor {}", folder, kSingleName, kIndexName)};
  }
  for (const std::string& file : files) {
    if (auto added = checkpoint.add_file(folder, file); !added) problems.push_back(added.reason());
  }
  checkpoint.by_name_.reserve(checkpoint.tensors_.size());
  for (size_t i = 0; i < checkpoint.tensors_.size(); ++i) {
    const NamedTensor& tensor = checkpoint.tensors_[i];
    const auto [at, fresh] = checkpoint.by_name_.emplace(tensor.name, static_cast<int>(i));
    if (!fresh) {
      problems.push_back(
          fmt::format("tensor {} is in both {} and {}", tensor.name,
                      checkpoint.file_name(checkpoint.tensors_[static_cast<size_t>(at->second)].file),
                      checkpoint.file_name(tensor.file)));
    }
  }
  if (problems.empty()) {
    for (const auto& [tensor, file] : index) {
      const int found = checkpoint.find(tensor);
      if (found < 0) {
        problems.push_back(
            fmt::format("tensor {}: the index places it in {}, which does not hold it", tensor, file));
      }
    }
  }
  if (!problems.empty()) return Error{join_problems(folder, problems)};
  return checkpoint;
}

int Checkpoint::find(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? -1 : at->second;
}

std::string Checkpoint::file_name(int file) const {
  return fs::path(files_[static_cast<size_t>(file)].path()).filename().string();
}

int64_t Checkpoint::bytes() const {
  int64_t total = 0;
  for (const NamedTensor& tensor : tensors_) total += tensor.view.bytes();
  return total;
}

}  // namespace assay::checkpoint
