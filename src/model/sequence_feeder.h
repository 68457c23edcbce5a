#pragma once
// SequenceFeeder: runs one sequence through a model without a scheduler (canary, verify). It uses the model's
// pages in order from 0 and state slot 0.
#include <span>
#include <vector>

#include "model/model.h"

namespace assay::model {

class SequenceFeeder {
 public:
  explicit SequenceFeeder(Model& model);

  enum class Logits : uint8_t { every_row, last_row };
  // Logits [rows wanted, vocab] of `ids`, which continue the sequence.
  std::vector<float> feed(std::span<const int32_t> ids, Logits wanted, Observer* observer = nullptr);
  void reset() { position_ = 0; }  // a fresh sequence
  int64_t position() const { return position_; }

 private:
  Model& model_;
  std::vector<int32_t> pages_;
  int64_t position_ = 0;
};

}  // namespace assay::model
