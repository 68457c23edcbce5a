#pragma once
// PagePool and StateSlots: which pages and state slots are free. Indices only; the memory belongs to the
// model.
#include <cstdint>
#include <optional>
#include <vector>

namespace assay::cache {

enum class PageId : int32_t {};
enum class SlotId : int32_t { none = -1 };

// Hands out the most recently freed first, so that a lightly loaded server touches little memory.
template <class Id>
class IndexPool {
 public:
  explicit IndexPool(int64_t count) : total_(count) {
    for (int64_t i = count; i > 0; --i) free_.push_back(static_cast<Id>(i - 1));
  }

  // `count` ids, or nullopt when fewer are free; never a part.
  std::optional<std::vector<Id>> take(int64_t count) {
    if (count > available()) return std::nullopt;
    std::vector<Id> ids(free_.end() - count, free_.end());
    free_.resize(free_.size() - static_cast<size_t>(count));
    return ids;
  }
  void give_back(const std::vector<Id>& ids) { free_.insert(free_.end(), ids.begin(), ids.end()); }

  int64_t available() const { return static_cast<int64_t>(free_.size()); }
  int64_t used() const { return total_ - available(); }
  int64_t total() const { return total_; }

 private:
  int64_t total_;
  std::vector<Id> free_;
};

using PagePool = IndexPool<PageId>;
using StateSlots = IndexPool<SlotId>;

}  // namespace assay::cache
