#include "text/detokenizer.h"

namespace assay::text {

std::string Detokenizer::push(int32_t id) {
  if (skip_special_ && tokenizer_->is_special(id)) return {};
  return stream_.push(tokenizer_->token_bytes(id));
}

std::string Detokenizer::flush() {
  return stream_.flush();
}

}  // namespace assay::text
