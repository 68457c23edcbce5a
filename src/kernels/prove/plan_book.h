#pragma once
// PlanBook: what was proven and timed on a device, as a text file that diffs. An entry belongs to one problem
// and is valid while its signature is: the device, the build of this program, and the family's list of
// runners.
//
//   assay plan book 1
//   problem moe hidden=256 ...
//   signature device=... build=... runners=cpu_plain,reference
//   runner cpu_plain proven executions=... kinds=... worst=... case=...
//   runner other failed REASON
//   runner third refused REASON
//   time cpu_plain rows=8 us=12.5 spread=0.3 bytes=...
//   chosen cpu_plain
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/prove/proof.h"
#include "kernels/prove/timing.h"

namespace assay::kernels {

struct Signature {
  std::string device, build, runners;
  bool operator==(const Signature&) const = default;
  std::string text() const;
};

struct BookRunner {
  std::string name;
  enum class State : uint8_t { proven, failed, refused } state = State::refused;
  Proof proof;         // when proven
  std::string reason;  // else
};

struct BookEntry {
  std::string problem;
  Signature signature;
  std::vector<BookRunner> runners;  // in list order
  std::vector<Timing> timings;
  std::string chosen;  // empty: nothing is proven
};

class PlanBook {
 public:
  // A missing file is an empty book; a damaged one is an error that names the line.
  static Result<PlanBook> load(const std::string& path);
  static Result<PlanBook> parse(const std::string& text);
  std::string text() const;
  // Written to a file of its own beside `path`, then renamed over it: two writers cannot mix.
  Result<void> save(const std::string& path) const;

  // The entry of a problem if its signature still holds, else null; `why` then says what changed.
  const BookEntry* find(const std::string& problem, const Signature& now, std::string* why = nullptr) const;
  void put(BookEntry entry) { entries_[entry.problem] = std::move(entry); }
  const std::map<std::string, BookEntry>& entries() const { return entries_; }

 private:
  std::map<std::string, BookEntry> entries_;
};

// $XDG_CACHE_HOME/assay/plans.book, else ~/.cache/assay/plans.book.
std::string default_plan_book_path();

}  // namespace assay::kernels
