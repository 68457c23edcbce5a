#include "fixtures.h"

#include <fmt/format.h>
#include <lzma.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace assay::text::fixtures {
namespace {

constexpr int kMaxLines = 100;  // failures that are printed

[[noreturn]] void stop(const std::string& message) {
  fmt::print(stderr, "text_fixtures: {}\n", message);
  std::exit(2);
}

std::string unpack_xz(const std::string& packed, const fs::path& path) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, UINT64_MAX, 0) != LZMA_OK) stop("liblzma does not start");
  stream.next_in = reinterpret_cast<const uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  std::string out;
  std::vector<uint8_t> buffer(1 << 20);
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK) {
    stream.next_out = buffer.data();
    stream.avail_out = buffer.size();
    status = lzma_code(&stream, LZMA_FINISH);
    out.append(reinterpret_cast<const char*>(buffer.data()), buffer.size() - stream.avail_out);
  }
  lzma_end(&stream);
  if (status != LZMA_STREAM_END) stop("cannot unpack " + path.string());
  return out;
}

std::string shown(const std::string& text) {
  auto json = jinja::to_json(Value(text.substr(0, 60)));
  return json ? *json : "?";
}

}  // namespace

void Report::fail(const std::string& what, const std::string& detail) {
  if (++failed_ <= kMaxLines) fmt::print("FAIL {}: {}\n", what, detail);
  if (failed_ == kMaxLines) fmt::print("... further failures are counted only\n");
}

void Report::skip(const std::string& what) {
  if (skipped_.insert(what).second) fmt::print("skipped: {}\n", what);
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  if (!file) stop("cannot read " + path.string());
  return path.extension() == ".xz" ? unpack_xz(bytes.str(), path) : bytes.str();
}

Value read_json(const fs::path& path) {
  auto value = jinja::value_from_json(read_file(path));
  if (!value) stop(path.string() + ": " + value.reason());
  return *value;
}

std::vector<Value> read_json_lines(const fs::path& path) {
  std::vector<Value> out;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    auto value = jinja::value_from_json(line);
    if (!value) stop(path.string() + ": " + value.reason());
    out.push_back(std::move(*value));
  }
  return out;
}

const Tokenizer* Tokenizers::find(const std::string& name, const fs::path& near, Report* report) {
  if (const auto found = loaded_.find(name); found != loaded_.end()) return found->second.get();
  std::vector<fs::path> places;
  for (fs::path folder = near; !folder.empty(); folder = folder.parent_path()) {
    places.push_back(folder / "tokenizers");
    if (folder == folder.parent_path()) break;
  }
  if (const char* fixtures = std::getenv("ASSAY_FIXTURES"))
    places.push_back(fs::path(fixtures) / "tokenizers");
  places.push_back(fs::path(ASSAY_SOURCE_DIR).parent_path() / "shared" / "tokenizers");
  for (const fs::path& place : places)
    for (const char* file : {"tokenizer.json", "tokenizer.json.xz"}) {
      const fs::path path = place / name / file;
      if (!fs::exists(path)) continue;
      auto tokenizer = Tokenizer::parse(read_file(path));
      if (!tokenizer) stop(path.string() + ": " + tokenizer.reason());
      return (loaded_[name] = std::make_unique<Tokenizer>(std::move(*tokenizer))).get();
    }
  report->skip("tokenizer " + name + " (not found)");
  return nullptr;
}

fs::path find_file(const fs::path& folder, const std::string& kind, const fs::path& relative) {
  std::vector<fs::path> places = {folder};
  if (const char* fixtures = std::getenv("ASSAY_FIXTURES"))
    places.push_back(fs::path(fixtures) / "text" / kind);
  places.push_back(fs::path(ASSAY_SOURCE_DIR).parent_path() / "shared" / "text" / kind);
  for (const fs::path& place : places)
    if (fs::exists(place / relative)) return place / relative;
  return folder / relative;
}

const Value& member(const Value& object, const std::string& name) {
  const Value* found = object.find(name);
  if (found == nullptr) stop("a case has no '" + name + "'");
  return *found;
}

std::string text_of(const Value& object, const std::string& name) {
  const Value& value = member(object, name);
  return value.is_string() ? value.as_string().bytes() : std::string();
}

bool flag_of(const Value& object, const std::string& name, bool otherwise) {
  const Value* found = object.find(name);
  return found != nullptr && found->is_bool() ? found->as_bool() : otherwise;
}

std::vector<int32_t> ids_of(const Value& list) {
  std::vector<int32_t> out;
  for (const Value& id : list.items()) out.push_back(static_cast<int32_t>(id.as_int()));
  return out;
}

std::string difference(const std::vector<int32_t>& found, const std::vector<int32_t>& expected) {
  if (found == expected) return {};
  const auto [a, b] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  return fmt::format("{} ids, expected {}; from number {}: {} for {}", found.size(), expected.size(),
                     a - found.begin(), a == found.end() ? -1 : *a, b == expected.end() ? -1 : *b);
}

std::string difference(const std::string& found, const std::string& expected) {
  if (found == expected) return {};
  const auto at =
      std::mismatch(found.begin(), found.end(), expected.begin(), expected.end()).first - found.begin();
  const auto from = static_cast<size_t>(std::max<ptrdiff_t>(at - 12, 0));
  return fmt::format("from byte {}: {} expected {}", from, shown(found.substr(from)),
                     shown(expected.substr(from)));
}

}  // namespace assay::text::fixtures
