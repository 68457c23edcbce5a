#include "model/sequence_feeder.h"

#include <numeric>

namespace assay::model {

SequenceFeeder::SequenceFeeder(Model& model) : model_(model) {
  pages_.resize(static_cast<size_t>(model.options().pages));
  std::iota(pages_.begin(), pages_.end(), 0);
}

std::vector<float> SequenceFeeder::feed(std::span<const int32_t> ids, Logits wanted, Observer* observer) {
  Batch batch;
  batch.ids.assign(ids.begin(), ids.end());
  std::vector<int32_t> state_out(ids.size(), -1);
  state_out.back() = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    batch.positions.push_back(static_cast<int32_t>(position_ + static_cast<int64_t>(i)));
    if (wanted == Logits::every_row || i + 1 == ids.size())
      batch.logit_rows.push_back(static_cast<int32_t>(i));
  }
  batch.sequences.push_back({.row_begin = 0,
                             .row_count = batch.rows(),
                             .position = position_,
                             .pages = pages_,
                             .state_in = position_ == 0 ? -1 : 0,
                             .state_out = state_out});
  std::vector<float> logits;
  model_.forward(batch, logits, observer);
  position_ += batch.rows();
  return logits;
}

}  // namespace assay::model
