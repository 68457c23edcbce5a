#pragma once
// Fixture files of tests/data/text and ../shared/text: how they are found, read, and counted. See README.md
// there.
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "text/jinja/value.h"
#include "text/tokenizer.h"

namespace assay::text::fixtures {

using jinja::Value;
namespace fs = std::filesystem;

// Counts cases and prints the failures, one short line each.
class Report {
 public:
  void pass() { ++passed_; }
  void fail(const std::string& what, const std::string& detail);
  // A case that holds if `detail` is empty.
  void check(const std::string& what, const std::string& detail) {
    detail.empty() ? pass() : fail(what, detail);
  }
  void skip(const std::string& what);
  int passed() const { return passed_; }
  int failed() const { return failed_; }

 private:
  int passed_ = 0, failed_ = 0;
  std::set<std::string> skipped_;
};

// A file's bytes; .xz files are unpacked. Ends the program with a message if that fails.
std::string read_file(const fs::path& path);
Value read_json(const fs::path& path);
std::vector<Value> read_json_lines(const fs::path& path);

// Finds tokenizers by name: beside the fixtures, in $ASSAY_FIXTURES and in ../shared; loads each once.
class Tokenizers {
 public:
  // Null, with a line in the report, if there is none of that name.
  const Tokenizer* find(const std::string& name, const fs::path& near, Report* report);

 private:
  std::map<std::string, std::unique_ptr<Tokenizer>> loaded_;
};

// `relative` in `folder`, or else in the same place of the shared fixtures (`kind` is the folder's name
// there): a folder of further cases need not bring the templates and tokenizers again.
fs::path find_file(const fs::path& folder, const std::string& kind, const fs::path& relative);

// Shorthands over a case; the member must be there.
const Value& member(const Value& object, const std::string& name);
std::string text_of(const Value& object, const std::string& name);
bool flag_of(const Value& object, const std::string& name, bool otherwise);
std::vector<int32_t> ids_of(const Value& list);
// "" if equal, else where they part.
std::string difference(const std::vector<int32_t>& found, const std::vector<int32_t>& expected);
std::string difference(const std::string& found, const std::string& expected);

// One function for each kind of file.
void run_tokenizer_cases(const fs::path& file, const Tokenizer& tokenizer, Report* report);
void run_detokenizer_cases(const fs::path& file, const Tokenizer& tokenizer, Report* report);
void run_stop_cases(const fs::path& file, const Value& cases, Report* report);
void run_jinja_probes(const fs::path& file, Report* report);
void run_template_cases(const fs::path& file, const Value& content, Report* report);
void run_sanitized_cases(const fs::path& file, const Value& cases, Tokenizers* tokenizers, Report* report);

}  // namespace assay::text::fixtures
