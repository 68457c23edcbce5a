#pragma once
// Step: what one forward pass works on. Made by the Scheduler, run by an Executor, committed by the
// Scheduler.
#include <memory>
#include <optional>
#include <vector>

#include "cache/index_pool.h"
#include "constraint/mask_provider.h"
#include "engine/request.h"

namespace assay::engine {

enum class Ticket : uint64_t {};

// "The token that row `row` of ticket `ticket` will draw": lets a step be planned before the last one is
// done.
struct TokenRef {
  Ticket ticket{};
  int32_t row = 0;
};

// Consecutive tokens of one sequence: a decode row (one token) or a chunk of its prompt.
struct StepRow {
  std::shared_ptr<const Request> request;
  std::vector<TokenId> tokens;  // one placeholder (-1) where `from` names the token
  std::optional<TokenRef> from;
  int32_t position = 0;  // of the first token
  std::shared_ptr<const std::vector<cache::PageId>> pages;
  cache::SlotId state_in = cache::SlotId::none;  // none: the sequence starts here
  std::vector<cache::SlotId> state_out;  // per token: where to keep the state, or none; the last is a slot
  int32_t draw_index = -1;  // index of the output token to draw after the last token; -1 = draw nothing
  std::shared_ptr<constraint::MaskProvider> mask;  // may be null
};

struct Step {
  Ticket ticket{};
  std::vector<StepRow> rows;
  int64_t tokens() const {
    int64_t n = 0;
    for (const StepRow& row : rows) n += static_cast<int64_t>(row.tokens.size());
    return n;
  }
};

inline constexpr TokenId kNoToken = -1;       // the row drew nothing
inline constexpr TokenId kInvalidToken = -2;  // the row's logits were not numbers

struct StepResult {
  Ticket ticket{};
  std::vector<TokenId> tokens;  // one per row
};

}  // namespace assay::engine
