#pragma once
// The parts of a Tokenizer, in the order in which text passes through them. Private to tokenizer*.cc.
#include <deque>
#include <map>

#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/normalizer.h"
#include "text/pretokenizer.h"
#include "text/tokenizer.h"

namespace assay::text {

struct Tokenizer::Impl {
  TokenFinder raw_tokens;         // cut out of the text as it is
  Normalizer normalizer;          // for what lies between
  TokenFinder normalized_tokens;  // then cut out of the normalised text
  Pretokenizer pretokenizer;
  Bpe bpe;

  std::deque<AddedToken> added;  // stable addresses
  std::map<std::string, int32_t, std::less<>> added_ids;
  std::map<int32_t, std::string> added_bytes;
  std::vector<bool> special, is_added;  // by id
  int32_t size = 0;
};

}  // namespace assay::text
