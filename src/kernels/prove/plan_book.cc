#include "kernels/prove/plan_book.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/mapped_file.h"

namespace assay::kernels {
namespace {

constexpr const char* kHeader = "assay plan book 1";
constexpr size_t kMaxBookBytes = size_t{64} << 20;

// "key=" at the start of the next word; the value runs to `end` (a space, or the line's end for the last).
bool take_field(std::string_view& line, std::string_view key, std::string& value, bool to_end = false) {
  if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != '=') return false;
  line.remove_prefix(key.size() + 1);
  const size_t end = to_end ? line.size() : std::min(line.find(' '), line.size());
  value = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return true;
}

template <class T>
bool take_number(std::string_view& line, std::string_view key, T& number) {
  std::string text;
  if (!take_field(line, key, text)) return false;
  std::istringstream in(text);
  return static_cast<bool>(in >> number) && in.eof();
}

std::string_view take_word(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

bool read_runner(std::string_view line, BookRunner& runner) {
  runner.name = take_word(line);
  const std::string_view state = take_word(line);
  if (state == "failed" || state == "refused") {
    runner.state = state == "failed" ? BookRunner::State::failed : BookRunner::State::refused;
    runner.reason = line;
    return true;
  }
  runner.state = BookRunner::State::proven;
  return state == "proven" && take_number(line, "executions", runner.proof.executions) &&
         take_number(line, "kinds", runner.proof.kinds) &&
         take_number(line, "worst", runner.proof.worst_ratio) &&
         take_field(line, "case", runner.proof.worst_case, true);
}

bool read_time(std::string_view line, Timing& t) {
  t.runner = take_word(line);
  return take_number(line, "rows", t.rows) && take_number(line, "us", t.microseconds) &&
         take_number(line, "spread", t.spread) && take_number(line, "bytes", t.bytes);
}

bool read_signature(std::string_view line, Signature& s) {
  return take_field(line, "device", s.device) && take_field(line, "build", s.build) &&
         take_field(line, "runners", s.runners);
}

// One line into the entry it belongs to.
bool read_line(std::string_view line, BookEntry& entry) {
  const std::string_view word = take_word(line);
  if (word == "signature") return read_signature(line, entry.signature);
  if (word == "runner") return read_runner(line, entry.runners.emplace_back());
  if (word == "time") return read_time(line, entry.timings.emplace_back());
  if (word == "chosen") entry.chosen = line;
  return word == "chosen";
}

std::string runner_text(const BookRunner& r) {
  switch (r.state) {
    case BookRunner::State::proven:
      return fmt::format("runner {} proven executions={} kinds={} worst={:.4g} case={}\n", r.name,
                         r.proof.executions, r.proof.kinds, r.proof.worst_ratio, r.proof.worst_case);
    case BookRunner::State::failed:
      return fmt::format("runner {} failed {}\n", r.name, r.reason);
    case BookRunner::State::refused:
      return fmt::format("runner {} refused {}\n", r.name, r.reason);
  }
  return "";
}

}  // namespace

std::string Signature::text() const {
  return fmt::format("device={} build={} runners={}", device, build, runners);
}

Result<PlanBook> PlanBook::load(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return PlanBook();
  auto text = read_file(path, kMaxBookBytes);
  if (!text) return text.error();
  auto book = parse(*text);
  if (!book) return Error{path + ": " + book.reason()};
  return book;
}

Result<PlanBook> PlanBook::parse(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  if (!std::getline(in, line) || line != kHeader)
    return Error{fmt::format("line 1: found {:?}, expected {:?}", line.substr(0, 60), kHeader)};
  PlanBook book;
  BookEntry entry;
  for (int number = 2; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    if (line.starts_with("problem ")) {
      if (!entry.problem.empty()) book.put(std::move(entry));
      entry = {.problem = line.substr(8)};
    } else if (entry.problem.empty() || !read_line(line, entry)) {
      return Error{fmt::format("line {}: {:?} is no line of a plan book", number, line.substr(0, 80))};
    }
  }
  if (!entry.problem.empty()) book.put(std::move(entry));
  return book;
}

std::string PlanBook::text() const {
  std::string out = std::string(kHeader) + "\n";
  for (const auto& [problem, entry] : entries_) {
    out += fmt::format("\nproblem {}\nsignature {}\n", problem, entry.signature.text());
    for (const BookRunner& r : entry.runners) out += runner_text(r);
    for (const Timing& t : entry.timings) {
      out += fmt::format("time {} rows={} us={:.2f} spread={:.2f} bytes={}\n", t.runner, t.rows,
                         t.microseconds, t.spread, t.bytes);
    }
    if (!entry.chosen.empty()) out += fmt::format("chosen {}\n", entry.chosen);
  }
  return out;
}

Result<void> PlanBook::save(const std::string& path) const {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  const std::string fresh = fmt::format("{}.{}", path, getpid());
  std::ofstream file(fresh, std::ios::binary);
  file << text();
  file.close();
  if (!file) return Error{fmt::format("cannot write the plan book {}", fresh)};
  fs::rename(fresh, path, error);
  if (error) return Error{fmt::format("cannot rename {} to {}: {}", fresh, path, error.message())};
  return {};
}

const BookEntry* PlanBook::find(const std::string& problem, const Signature& now, std::string* why) const {
  const auto at = entries_.find(problem);
  std::string reason;
  if (at == entries_.end())
    reason = "not in the book";
  else if (at->second.signature.device != now.device)
    reason = fmt::format("the device changed from {} to {}", at->second.signature.device, now.device);
  else if (at->second.signature.build != now.build)
    reason = fmt::format("the build changed from {} to {}", at->second.signature.build, now.build);
  else if (at->second.signature.runners != now.runners)
    reason = fmt::format("the runners changed from {} to {}", at->second.signature.runners, now.runners);
  else
    return &at->second;
  if (why != nullptr) *why = reason;
  return nullptr;
}

std::string default_plan_book_path() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return std::string(cache) + "/assay/plans.book";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : "/tmp") + "/.cache/assay/plans.book";
}

}  // namespace assay::kernels
