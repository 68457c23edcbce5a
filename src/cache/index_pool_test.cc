#include "cache/index_pool.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace assay::cache {
namespace {

TEST(IndexPool, NeverHandsOutAnIdTwiceAndLosesNone) {
  std::mt19937 rng(1);
  PagePool pool(100);
  std::vector<std::vector<PageId>> held;
  for (int i = 0; i < 10000; ++i) {
    if (rng() % 2 == 0) {
      if (auto taken = pool.take(rng() % 20)) held.push_back(*taken);
    } else if (!held.empty()) {
      const size_t at = rng() % held.size();
      pool.give_back(held[at]);
      held.erase(held.begin() + static_cast<long>(at));
    }
    std::set<PageId> ids;
    size_t count = 0;
    for (const auto& h : held) {
      ids.insert(h.begin(), h.end());
      count += h.size();
    }
    ASSERT_EQ(ids.size(), count);
    ASSERT_EQ(static_cast<int64_t>(count), pool.used());
  }
}

TEST(IndexPool, TakesAllOrNothingAndReusesTheLastFreed) {
  StateSlots slots(3);
  EXPECT_FALSE(slots.take(4));
  const auto first = *slots.take(1);
  slots.give_back(first);
  EXPECT_EQ(*slots.take(1), first);
  EXPECT_EQ(slots.available(), 2);
}

}  // namespace
}  // namespace assay::cache
