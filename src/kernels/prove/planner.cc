#include "kernels/prove/planner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>

#include "base/mapped_file.h"

namespace assay::kernels {
namespace {

// FNV-1a, 64 bits.
uint64_t hash_bytes(const void* data, size_t size) {
  uint64_t h = 0xCBF29CE484222325u;
  for (size_t i = 0; i < size; ++i) h = (h ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001B3u;
  return h;
}

// The program that runs: any rebuild that changes a byte voids what an older one proved.
const std::string& build_hash() {
  static const std::string hash = [] {
    const auto program = MappedFile::open("/proc/self/exe");
    return program ? fmt::format("{:016x}", hash_bytes(program->data(), program->size()))
                   : std::string("unknown");
  }();
  return hash;
}

// Model name and feature flags of the processor, hashed, and the threads that plans are made for.
std::string cpu_text(int threads) {
  std::ifstream in("/proc/cpuinfo");
  std::string all;
  for (std::string line; std::getline(in, line) && !line.empty();) {  // the first core's block
    if (line.starts_with("model name") || line.starts_with("flags") || line.starts_with("Features"))
      all += line;
  }
  return fmt::format("cpu-{:016x}-{}threads", hash_bytes(all.data(), all.size()), threads);
}

// Total time over the row buckets, decode weighing most: what one layout for all rows is chosen by.
constexpr std::pair<int64_t, double> kTrafficMix[] = {{1, 0.4}, {8, 0.3}, {64, 0.2}, {512, 0.1}};

struct Cost {
  double total = 0, spread = 0;
};
Cost cost_of(const BookEntry& entry, const std::string& runner) {
  Cost cost;
  for (const Timing& t : entry.timings) {
    for (const auto& [rows, weight] : kTrafficMix) {
      if (t.runner != runner || t.rows != rows) continue;
      cost.total += weight * t.microseconds / static_cast<double>(rows);
      cost.spread += weight * t.spread / static_cast<double>(rows);
    }
  }
  return cost;
}

void choose_runner(BookEntry& entry) {
  for (size_t i = 0; i < entry.runners.size(); ++i) {
    const BookRunner& r = entry.runners[i];
    if (r.state != BookRunner::State::proven) continue;
    const bool reference = i + 1 == entry.runners.size();
    if (entry.chosen.empty()) {
      entry.chosen = r.name;
    } else if (!reference && !entry.timings.empty()) {
      const Cost best = cost_of(entry, entry.chosen), mine = cost_of(entry, r.name);
      if (mine.total + mine.spread + best.spread < best.total) entry.chosen = r.name;
    }
  }
}

}  // namespace

Signature current_signature(const FamilyProver& prover, int threads) {
  return {.device = cpu_text(threads),
          .build = build_hash(),
          .runners = fmt::format("{}", fmt::join(prover.runners(), ","))};
}

Result<BookEntry> plan_problem(const std::string& problem, const PlannerOptions& options) {
  auto prover = prover_of(problem);
  if (!prover) return prover.error();
  BookEntry entry{.problem = problem, .signature = current_signature(**prover, options.threads)};
  const auto names = (*prover)->runners();
  std::vector<std::string> timed;
  for (const std::string& name : names) {
    BookRunner runner{.name = name};
    if (const Verdict verdict = (*prover)->accepts(problem, name); !verdict) {
      runner.reason = verdict.reason();
    } else {
      runner.proof = options.prove({problem, name, options.seed, options.threads}, options.limits).proof;
      runner.state = runner.proof.passed() ? BookRunner::State::proven : BookRunner::State::failed;
      runner.reason = runner.proof.failure;
      // The reference is the definition, slow on purpose: timing it would take longer than everything else.
      if (runner.proof.passed() && name != names.back()) timed.push_back(name);
    }
    entry.runners.push_back(std::move(runner));
  }
  if (options.timings && !timed.empty()) {
    auto timings = time_runners(problem, timed, {1, 8, 64, 512}, options.threads, options.seed);
    if (!timings) return timings.error();
    entry.timings = *std::move(timings);
  }
  choose_runner(entry);
  return entry;
}

}  // namespace assay::kernels
