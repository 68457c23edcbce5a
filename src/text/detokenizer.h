#pragma once
// Detokenizer: ids of one running answer to text, piece by piece. Join of all pieces + flush() ==
// Tokenizer::decode.
#include <cstdint>
#include <string>

#include "text/tokenizer.h"
#include "text/unicode/utf8.h"

namespace assay::text {

class Detokenizer {
 public:
  // `tokenizer` must outlive this object. With skip_special, special tokens vanish and the bytes around them
  // meet.
  Detokenizer(const Tokenizer& tokenizer, bool skip_special)
      : tokenizer_(&tokenizer), skip_special_(skip_special) {}

  // The text that became certain with `id`: never ends inside a character, holds back at most 3 bytes.
  std::string push(int32_t id);
  // What was held back, at the end of the stream: nothing or one U+FFFD.
  std::string flush();

 private:
  const Tokenizer* tokenizer_;
  bool skip_special_;
  Utf8Stream stream_;
};

}  // namespace assay::text
