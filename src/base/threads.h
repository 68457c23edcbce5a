#pragma once
// ThreadPool: a fixed crew for short parallel regions. The caller is worker 0. Regions are split statically,
// so that who computes what never depends on timing. Waiting spins briefly, then sleeps: a spinning crew
// starves its own neighbours under container CPU quotas.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace assay {

int usable_cores();  // cores in this process's affinity mask, at least 1

class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // >= 1, the caller included
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(worker, size()) once on every worker and returns when all are done. Not reentrant.
  void run(const std::function<void(int worker, int workers)>& body);

  // Splits [0, count) into size() contiguous ranges and calls body(begin, end, worker) on each non-empty one.
  // A region smaller than `grain` items per worker uses fewer workers.
  template <class Body>
  void parallel_for(int64_t count, int64_t grain, const Body& body) {
    const int64_t useful =
        std::max<int64_t>(1, std::min<int64_t>(size(), count / std::max<int64_t>(grain, 1)));
    if (useful == 1) {
      if (count > 0) body(int64_t{0}, count, 0);
      return;
    }
    run([&](int worker, int) {
      if (worker >= useful) return;
      const int64_t begin = count * worker / useful, end = count * (worker + 1) / useful;
      if (begin < end) body(begin, end, worker);
    });
  }

  // Calls body(item, worker) for every item in [0, count), handed out one by one: for items of unequal cost.
  // The result must not depend on which worker does which item.
  template <class Body>
  void parallel_items(int64_t count, const Body& body) {
    if (size() == 1 || count == 1) {
      for (int64_t i = 0; i < count; ++i) body(i, 0);
      return;
    }
    std::atomic<int64_t> next{0};
    run([&](int worker, int) {
      for (int64_t i = next.fetch_add(1, std::memory_order_relaxed); i < count;
           i = next.fetch_add(1, std::memory_order_relaxed)) {
        body(i, worker);
      }
    });
  }

 private:
  void work(int worker);

  const std::function<void(int, int)>* body_ = nullptr;
  std::atomic<uint32_t> round_{0};
  std::atomic<uint32_t> pending_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> workers_;
};

}  // namespace assay
