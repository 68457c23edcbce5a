#include "kernels/prove/timing.h"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace assay::kernels {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 9;
constexpr double kMinSeconds = 2e-4;  // of one measurement; shorter calls are repeated
constexpr int64_t kColdBytes = int64_t{48}
                               << 20;  // copies are rotated until at least this much lies between two uses
constexpr int64_t kMaxCopies = 8;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One runner with its copies of weights and inputs.
struct Lane {
  std::string name;
  std::vector<std::unique_ptr<OpenRunner>> copies;
  std::vector<std::unique_ptr<ProofCase>> cases;
  std::vector<double> times;
  size_t next = 0;
};

// Seconds per call.
double measure(Lane& lane, const CpuContext& cpu) {
  for (const auto& c : lane.cases) c->prepare();
  const auto start = Clock::now();
  int calls = 0;
  do {
    lane.cases[lane.next++ % lane.cases.size()]->run(cpu);
    ++calls;
  } while (seconds_since(start) < kMinSeconds);
  return seconds_since(start) / calls;
}

Result<Lane> open_lane(const FamilyProver& prover, const std::string& problem, const std::string& runner,
                       int64_t rows, uint64_t seed) {
  Lane lane{.name = runner};
  int64_t bytes = 0;
  std::mt19937 rng(static_cast<uint32_t>(seed));
  for (int64_t copy = 0; copy < kMaxCopies && (copy == 0 || bytes < kColdBytes); ++copy) {
    auto opened = prover.open(problem, runner, seed + static_cast<uint64_t>(copy));
    if (!opened) return opened.error();
    lane.copies.push_back(*std::move(opened));
    lane.cases.push_back(
        lane.copies.back()->make_case({ValueKind::normal, rows, 4 + 6 * static_cast<int>(copy)}, rng));
    bytes += lane.copies.back()->bytes_moved(rows);
  }
  return lane;
}

}  // namespace

Result<std::vector<Timing>> time_runners(const std::string& problem, const std::vector<std::string>& runners,
                                         const std::vector<int64_t>& rows, int threads, uint64_t seed) {
  auto prover = prover_of(problem);
  if (!prover) return prover.error();
  ThreadPool pool(threads);
  std::vector<Timing> timings;
  for (int64_t count : rows) {
    std::vector<Lane> lanes;
    size_t scratch_bytes = 0;
    for (const std::string& runner : runners) {
      auto lane = open_lane(**prover, problem, runner, count, seed);
      if (!lane) return lane.error();
      lanes.push_back(*std::move(lane));
      scratch_bytes = std::max(scratch_bytes, lanes.back().copies[0]->scratch_bytes(count, threads));
    }
    const LazyBuffer scratch(scratch_bytes + kAlignment);
    const CpuContext cpu{pool, scratch.data()};
    for (Lane& lane : lanes) measure(lane, cpu);  // warm-up
    for (int round = 0; round < kRounds; ++round) {
      for (Lane& lane : lanes) lane.times.push_back(measure(lane, cpu) * 1e6);
    }
    for (Lane& lane : lanes) {
      std::sort(lane.times.begin(), lane.times.end());
      timings.push_back({lane.name, count, lane.times[kRounds / 2],
                         (lane.times[kRounds * 3 / 4] - lane.times[kRounds / 4]) / 2,
                         lane.copies[0]->bytes_moved(count)});
    }
  }
  return timings;
}

double measure_read_bandwidth(int threads) {
  constexpr int64_t kWords = int64_t{16} << 20;  // 128 MB
  std::vector<uint64_t> data(static_cast<size_t>(kWords), 1);
  ThreadPool pool(threads);
  std::atomic<uint64_t> sink{0};
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    const auto start = Clock::now();
    pool.parallel_for(kWords, 1, [&](int64_t begin, int64_t end, int) {
      uint64_t sums[8] = {};
      for (int64_t i = begin; i + 8 <= end; i += 8) {
        for (int j = 0; j < 8; ++j) sums[j] += data[static_cast<size_t>(i + j)];
      }
      for (uint64_t s : sums) sink += s;
    });
    best = std::max(best, static_cast<double>(kWords) * 8 / seconds_since(start));
  }
  return best;
}

}  // namespace assay::kernels
