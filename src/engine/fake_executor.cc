#include "engine/fake_executor.h"

#include "base/check.h"

namespace assay::engine {
namespace {

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9E3779B97F4A7C15u + b + 1;
  x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9u;
  return x ^ (x >> 32);
}

TokenId token_from(uint64_t state, uint64_t cells, TokenId vocab) {
  return static_cast<TokenId>(mix(state, cells) % static_cast<uint64_t>(vocab));
}

}  // namespace

void FakeExecutor::submit(Step step) {
  CHECK(done_.size() < kDepth, "more than {} steps submitted", int{kDepth});
  StepResult result{.ticket = step.ticket};
  for (const StepRow& row : step.rows) {
    CHECK(row.state_out.size() == row.tokens.size() && row.state_out.back() != cache::SlotId::none);
    alive_.insert(row.request->id);
    uint64_t state = row.state_in == cache::SlotId::none ? 0 : states_.at(row.state_in);
    for (size_t i = 0; i < row.tokens.size(); ++i) {
      TokenId token = row.tokens[i];
      if (row.from) {
        CHECK(row.from->ticket == previous_.ticket);
        token = previous_.tokens.at(static_cast<size_t>(row.from->row));
      }
      CHECK(token >= 0);
      const int64_t position = row.position + static_cast<int64_t>(i);
      state = mix(state, static_cast<uint64_t>(token));
      cells_[{row.pages->at(static_cast<size_t>(position / page_size_)), position % page_size_}] =
          mix(static_cast<uint64_t>(token), static_cast<uint64_t>(position));
      if (row.state_out[i] != cache::SlotId::none) states_[row.state_out[i]] = state;
    }
    if (row.draw_index < 0) {
      result.tokens.push_back(kNoToken);
      continue;
    }
    uint64_t cells = 0;
    for (int64_t p = 0; p < row.position + static_cast<int64_t>(row.tokens.size()); ++p) {
      cells += cells_.at({row.pages->at(static_cast<size_t>(p / page_size_)), p % page_size_});
    }
    result.tokens.push_back(token_from(state, cells, vocab_));
  }
  previous_ = result;
  done_.push_back(std::move(result));
}

StepResult FakeExecutor::collect() {
  CHECK(!done_.empty());
  StepResult result = std::move(done_.front());
  done_.pop_front();
  return result;
}

std::vector<TokenId> FakeExecutor::answer(std::vector<TokenId> context, int count, TokenId vocab) {
  uint64_t state = 0, cells = 0;
  size_t seen = 0;
  std::vector<TokenId> out;
  while (static_cast<int>(out.size()) < count) {
    for (; seen < context.size(); ++seen) {
      state = mix(state, static_cast<uint64_t>(context[seen]));
      cells += mix(static_cast<uint64_t>(context[seen]), seen);
    }
    out.push_back(token_from(state, cells, vocab));
    context.push_back(out.back());
  }
  return out;
}

}  // namespace assay::engine
