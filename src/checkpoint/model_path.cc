#include "checkpoint/model_path.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace assay::checkpoint {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}
bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

constexpr const char* kNoGguf =
    "GGUF files are not served: their block formats (Q4_K and others) are not the NVFP4, MXFP4 and FP8 "
    "tensors that "
    "the kernels here are proven for. Give the folder of the safetensors checkpoint instead";

bool holds_gguf(const fs::path& folder) {
  std::error_code ec;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ec))
    if (entry.path().extension() == ".gguf") return true;
  return false;
}

Result<ModelPath> take_folder(const fs::path& folder, std::string name) {
  if (is_file(folder / "config.json")) return ModelPath{folder.string(), std::move(name)};
  if (holds_gguf(folder)) return Error{fmt::format("{}: {}.", folder.string(), kNoGguf)};
  return Error{
      fmt::format("{}: no config.json in this folder; a model folder holds config.json, tokenizer.json and "
                  "*.safetensors.",
                  folder.string())};
}

// "org/name": two parts of letters, digits, '-', '_' and '.', neither of them "." or "..".
bool is_hub_name(const std::string& given) {
  const size_t slash = given.find('/');
  if (slash == std::string::npos || given.find('/', slash + 1) != std::string::npos) return false;
  const std::string parts[] = {given.substr(0, slash), given.substr(slash + 1)};
  return std::all_of(std::begin(parts), std::end(parts), [](const std::string& part) {
    return !part.empty() && part != "." && part != ".." &&
           std::all_of(part.begin(), part.end(), [](unsigned char c) {
             return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
           });
  });
}

Result<ModelPath> take_hub_name(const std::string& name, const std::string& hub) {
  std::string folder_name = "models--" + name;
  folder_name.replace(folder_name.find('/'), 1, "--");
  const fs::path base = fs::path(hub) / folder_name;
  std::string revision;
  std::ifstream(base / "refs" / "main") >> revision;
  const fs::path snapshot = base / "snapshots" / revision;
  if (!revision.empty() && revision.find('/') == std::string::npos && is_folder(snapshot))
    return take_folder(snapshot, name);
  return Error{fmt::format("{}: neither a folder here nor a model in {}. To download it: hf download {}",
                           name, hub, name)};
}

std::string home_cache() {
  if (const char* home = std::getenv("HF_HOME"); home != nullptr && *home != '\0')
    return std::string(home) + "/hub";
  const char* user = std::getenv("HOME");
  return std::string(user != nullptr ? user : "") + "/.cache/huggingface/hub";
}

}  // namespace

ModelPlaces default_model_places(const std::string& source, const std::string& install) {
  ModelPlaces places;
  places.embedded = {source + "/tiny", install + "/tiny"};
  std::error_code ec;
  const fs::path program = fs::read_symlink("/proc/self/exe", ec);
  if (!ec)
    places.embedded.push_back(
        (program.parent_path() / "../share/assay/models/tiny").lexically_normal().string());
  places.hub = home_cache();
  return places;
}

Result<ModelPath> resolve_model_path(const std::string& given, const ModelPlaces& places) {
  if (given.empty()) {
    for (const std::string& folder : places.embedded)
      if (is_file(fs::path(folder) / "config.json")) return ModelPath{folder, "tiny"};
    return Error{
        fmt::format("no model was named and the embedded one is in none of: {}. Name a folder or org/name.",
                    fmt::join(places.embedded, ", "))};
  }
  if (is_folder(given)) {
    std::error_code ec;
    fs::path full = fs::absolute(given, ec).lexically_normal();
    if (!full.has_filename()) full = full.parent_path();
    return take_folder(full, full.filename().string());
  }
  if (fs::path(given).extension() == ".gguf") return Error{fmt::format("{}: {}.", given, kNoGguf)};
  if (is_file(given))
    return Error{fmt::format("{}: a file; give the folder that holds config.json and the tensors.", given)};
  if (is_hub_name(given)) return take_hub_name(given, places.hub);
  return Error{fmt::format("{}: no such folder. A model is a folder with config.json, or org/name in {}.",
                           given, places.hub)};
}

}  // namespace assay::checkpoint
