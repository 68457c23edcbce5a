#pragma once
// WorkerPool: a few threads for work that is too long for an I/O thread. The queue is bounded.
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace assay::serve {

class WorkerPool {
 public:
  WorkerPool(int threads, size_t most_waiting) : most_waiting_(most_waiting) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~WorkerPool() {
    {
      std::lock_guard lock(mutex_);
      over_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  // False when too much waits already.
  bool post(std::function<void()> work) {
    {
      std::lock_guard lock(mutex_);
      if (queue_.size() >= most_waiting_) return false;
      queue_.push_back(std::move(work));
    }
    wake_.notify_one();
    return true;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return over_ || !queue_.empty(); });
      if (over_) return;
      std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      work();
      work = nullptr;
      lock.lock();
    }
  }

  size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace assay::serve
