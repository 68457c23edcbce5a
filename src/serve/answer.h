#pragma once
// Answer: one choice as it grows: token events in, text out. No sockets, no JSON.
#include <string>
#include <vector>

#include "engine/request.h"
#include "text/detokenizer.h"
#include "text/stop_matcher.h"

namespace assay::serve {

// Parts text at the first </think>: before it reasoning, after it content. White space around the tag goes.
class ReasoningSplitter {
 public:
  explicit ReasoningSplitter(bool inside) : inside_(inside) {}
  struct Output {
    std::string content, reasoning;
  };
  Output push(std::string_view piece);
  Output flush();
  bool inside() const { return inside_; }

 private:
  bool inside_;
  bool trim_start_ = false;  // right after the tag
  std::string held_;         // what may still become the tag or the white space before it
};

class Answer {
 public:
  // `tokenizer` must outlive this object.
  Answer(const text::Tokenizer& tokenizer, std::vector<std::string> stops, bool skip_special,
         bool in_reasoning)
      : detokenizer_(tokenizer, skip_special), stops_(std::move(stops)), splitter_(in_reasoning) {}

  struct Delta {
    std::string content, reasoning;
    engine::FinishReason finish = engine::FinishReason::none;
    bool by_stop_string = false;  // the engine does not know yet: it must be told to cancel
  };
  // After a delta with a finish no further event may come.
  Delta push(const engine::TokenEvent& event);

  int generated() const { return generated_; }
  int reasoning_tokens() const { return reasoning_tokens_; }

 private:
  void split_into(std::string_view text, Delta* delta);

  text::Detokenizer detokenizer_;
  text::StopMatcher stops_;
  ReasoningSplitter splitter_;
  int generated_ = 0;
  int reasoning_tokens_ = 0;
};

}  // namespace assay::serve
