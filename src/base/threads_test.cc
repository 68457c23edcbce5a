#include "base/threads.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/arena.h"

namespace assay {
namespace {

TEST(ThreadPool, EveryItemIsDoneOnceByOneWorker) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<int> split(static_cast<size_t>(count)), items(static_cast<size_t>(count));
      pool.parallel_for(count, 1, [&](int64_t begin, int64_t end, int worker) {
        EXPECT_LT(worker, threads);
        for (int64_t i = begin; i < end; ++i) split[static_cast<size_t>(i)]++;
      });
      pool.parallel_items(count, [&](int64_t i, int) { items[static_cast<size_t>(i)]++; });
      EXPECT_EQ(split, std::vector<int>(static_cast<size_t>(count), 1));
      EXPECT_EQ(items, std::vector<int>(static_cast<size_t>(count), 1));
    }
  }
}

TEST(ThreadPool, RegionsSeeEachOthersWrites) {
  ThreadPool pool(4);
  std::vector<int64_t> values(64, 0);
  for (int round = 1; round <= 2000; ++round) {
    pool.parallel_for(64, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) values[static_cast<size_t>(63 - i)] += round;
    });
  }
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), int64_t{0}), 64 * int64_t{2000} * 2001 / 2);
}

TEST(ThreadPool, SmallRegionsStayOnTheCaller) {
  ThreadPool pool(4);
  const auto caller = std::this_thread::get_id();
  pool.parallel_for(10, 100, [&](int64_t, int64_t, int) { EXPECT_EQ(std::this_thread::get_id(), caller); });
}

TEST(Arena, PiecesAreAlignedApartAndKept) {
  Arena arena;
  std::vector<std::byte*> pieces;
  for (size_t i = 0; i < 300; ++i) {
    const size_t bytes = i % 50 == 0 ? 2'000'000 : 1 + i * 37 % 5000;
    pieces.push_back(arena.allocate(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pieces.back()) % kAlignment, 0u);
    std::fill_n(pieces.back(), bytes, static_cast<std::byte>(i));
  }
  for (size_t i = 0; i < 300; ++i) EXPECT_EQ(pieces[i][0], static_cast<std::byte>(i));
}

TEST(Arena, BorrowingKeepsTheGivenBytes) {
  Arena copying, borrowing(true);
  const int value = 7;
  EXPECT_NE(static_cast<const void*>(copying.copy(&value, sizeof value)), &value);
  EXPECT_EQ(static_cast<const void*>(borrowing.copy(&value, sizeof value)), &value);
}

}  // namespace
}  // namespace assay
