#pragma once
// Batch: one forward pass's tokens, already placed: which page, which state slot, which rows want logits.
#include <cstdint>
#include <span>
#include <vector>

namespace assay::model {

struct BatchSequence {
  int64_t row_begin = 0;
  int64_t row_count = 0;
  int64_t position = 0;                // of the first row
  std::span<const int32_t> pages;      // page of position x: pages[x / page_size]
  int32_t state_in = -1;               // state slot before the first row; -1 = the sequence starts here
  std::span<const int32_t> state_out;  // per row: slot to keep the state in, or -1; the last one is a slot
};

struct Batch {
  std::vector<int32_t> ids;        // [rows]
  std::vector<int32_t> positions;  // [rows]
  std::vector<BatchSequence> sequences;
  std::vector<int32_t> logit_rows;  // rows whose logits are wanted, ascending
  int64_t rows() const { return static_cast<int64_t>(ids.size()); }
};

}  // namespace assay::model
