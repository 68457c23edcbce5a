#pragma once
// FakeExecutor: obeys the executor's contract without a model, so that scheduler and engine run in
// simulation. A row draws a token that depends only on the sequence's own tokens so far: any wrong page,
// position or reference shows.
#include <deque>
#include <map>
#include <set>

#include "engine/executor.h"

namespace assay::engine {

class FakeExecutor final : public Executor {
 public:
  // Draws ids in [0, vocab).
  FakeExecutor(TokenId vocab, int64_t page_size) : vocab_(vocab), page_size_(page_size) {}
  void submit(Step step) override;
  StepResult collect() override;
  void release(RequestId id) override { alive_.erase(id); }

  // What a request's answer must be: `count` tokens after `context` (prompt + emitted).
  static std::vector<TokenId> answer(std::vector<TokenId> context, int count, TokenId vocab);
  size_t remembered() const { return alive_.size(); }  // requests seen and not released

 private:
  TokenId vocab_;
  int64_t page_size_;
  std::deque<StepResult> done_;
  StepResult previous_;
  std::set<RequestId> alive_;
  std::map<cache::SlotId, uint64_t> states_;  // hash of the tokens that went through a slot
  std::map<std::pair<cache::PageId, int64_t>, uint64_t>
      cells_;  // (page, offset) -> hash of token and position
};

}  // namespace assay::engine
