// text_fixtures DIR...: runs every fixture file below the folders, whatever its kind, and closes with
// "N passed, N failed". Exit code 0 if none failed, 1 if one did, 2 if a file cannot be read.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "fixtures.h"

namespace assay::text::fixtures {
namespace {

bool has(const Value& object, std::initializer_list<const char*> names) {
  return std::all_of(names.begin(), names.end(), [&](const char* n) { return object.find(n); });
}

void run_lines(const fs::path& file, Tokenizers* tokenizers, Report* report) {
  const std::vector<Value> lines = read_json_lines(file);
  if (lines.empty()) return;
  if (has(lines[0], {"template", "context"})) return run_jinja_probes(file, report);
  const bool pieces = has(lines[0], {"ids", "chunks", "full"}), tokens = has(lines[0], {"text", "ids"});
  if (!pieces && !tokens) return report->skip(file.filename().string() + " (unknown format)");
  std::unique_ptr<Tokenizer> own;
  const Tokenizer* tokenizer = nullptr;
  const fs::path folder = file.parent_path();
  const std::string variant = "tokenizer_parity/variants/" + folder.filename().string();
  if (const fs::path beside = find_file(folder, variant, "tokenizer.json"); fs::exists(beside)) {
    auto parsed = Tokenizer::parse(read_file(beside));
    if (!parsed) return report->fail(beside.string(), parsed.reason());
    own = std::make_unique<Tokenizer>(std::move(*parsed));
    tokenizer = own.get();
  } else {
    tokenizer = tokenizers->find(file.stem().string(), file.parent_path(), report);
  }
  if (tokenizer == nullptr) return;
  if (pieces)
    run_detokenizer_cases(file, *tokenizer, report);
  else
    run_tokenizer_cases(file, *tokenizer, report);
}

void run_document(const fs::path& file, Tokenizers* tokenizers, Report* report) {
  const std::string name = file.filename().string();
  if (name == "tokenizer.json" || name == "tokenizer_config.json" || name == "meta.json") return;
  const Value content = read_json(file);
  if (content.is_list() && content.size() > 0) {
    const Value& first = content.items()[0];
    if (has(first, {"ids_sanitized"})) return run_sanitized_cases(file, content, tokenizers, report);
    if (has(first, {"stop", "expected_text"})) return run_stop_cases(file, content, report);
  }
  if (has(content, {"file", "special_tokens", "cases"})) return run_template_cases(file, content, report);
  if (has(content, {"format"})) return report->skip("stream_parsers");
}

void run_folder(const fs::path& folder, Tokenizers* tokenizers, Report* report) {
  std::vector<fs::path> files, folders;
  for (const auto& entry : fs::directory_iterator(folder))
    (entry.is_directory() ? folders : files).push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::sort(folders.begin(), folders.end());
  const int passed = report->passed(), failed = report->failed();
  for (const fs::path& file : files) {
    if (file.extension() == ".jsonl") run_lines(file, tokenizers, report);
    if (file.extension() == ".json") run_document(file, tokenizers, report);
  }
  if (report->passed() + report->failed() > passed + failed)
    fmt::print("{}: {} passed, {} failed\n", folder.string(), report->passed() - passed,
               report->failed() - failed);
  for (const fs::path& inner : folders)
    if (inner.filename() != "tokenizers") run_folder(inner, tokenizers, report);
}

int run(int count, char** arguments) {
  Report report;
  Tokenizers tokenizers;
  std::vector<fs::path> folders(arguments + 1, arguments + count);
  if (folders.empty()) {
    const char* given = std::getenv("ASSAY_FIXTURES");
    const fs::path shared =
        given ? fs::path(given) / "text" : fs::path(ASSAY_SOURCE_DIR).parent_path() / "shared" / "text";
    const bool there = fs::is_directory(shared);
    if (!there) fmt::print("skipped: {} (not there); running tests/data/text\n", shared.string());
    folders.push_back(there ? shared : fs::path(ASSAY_SOURCE_DIR) / "tests" / "data" / "text");
  }
  for (const fs::path& folder : folders) {
    if (!fs::is_directory(folder)) {
      fmt::print(stderr, "text_fixtures: no folder '{}'\n", folder.string());
      return 2;
    }
    run_folder(fs::canonical(folder), &tokenizers, &report);
  }
  fmt::print("{} passed, {} failed\n", report.passed(), report.failed());
  return report.failed() == 0 && report.passed() > 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay::text::fixtures

int main(int argc, char** argv) {
  return assay::text::fixtures::run(argc, argv);
}
