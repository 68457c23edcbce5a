#include "serve/answer.h"

namespace assay::serve {
namespace {

constexpr std::string_view kEndThink = "</think>";
constexpr std::string_view kSpace = " \n\r\t";

// From where on `text` could be white space and then a beginning of the tag.
size_t held_from(std::string_view text) {
  size_t tag = text.size();
  for (size_t n = std::min(text.size(), kEndThink.size() - 1); n > 0; --n) {
    if (text.substr(text.size() - n) == kEndThink.substr(0, n)) {
      tag = text.size() - n;
      break;
    }
  }
  const size_t last = text.substr(0, tag).find_last_not_of(kSpace);
  return last == std::string_view::npos ? 0 : last + 1;
}

}  // namespace

ReasoningSplitter::Output ReasoningSplitter::push(std::string_view piece) {
  Output out;
  std::string content;
  if (inside_) {
    held_ += piece;
    const size_t end = held_.find(kEndThink);
    if (end == std::string::npos) {
      const size_t keep = held_from(held_);
      out.reasoning = held_.substr(0, keep);
      held_.erase(0, keep);
      return out;
    }
    const size_t last = std::string_view(held_).substr(0, end).find_last_not_of(kSpace);
    out.reasoning = held_.substr(0, last == std::string::npos ? 0 : last + 1);
    content = held_.substr(end + kEndThink.size());
    held_.clear();
    inside_ = false;
    trim_start_ = true;
  } else {
    content = piece;
  }
  if (trim_start_) {
    const size_t first = content.find_first_not_of(kSpace);
    content.erase(0, std::min(first, content.size()));
    trim_start_ = content.empty();
  }
  out.content = std::move(content);
  return out;
}

ReasoningSplitter::Output ReasoningSplitter::flush() {
  Output out;
  out.reasoning.swap(held_);
  return out;
}

void Answer::split_into(std::string_view text, Delta* delta) {
  ReasoningSplitter::Output out = splitter_.push(text);
  delta->content += out.content;
  delta->reasoning += out.reasoning;
}

Answer::Delta Answer::push(const engine::TokenEvent& event) {
  Delta delta;
  delta.finish = event.finish;
  if (event.token >= 0) {
    ++generated_;
    reasoning_tokens_ += splitter_.inside() ? 1 : 0;
  }
  if (event.token >= 0 && !event.is_stop_token) {
    const text::StopMatcher::Output out = stops_.push(detokenizer_.push(event.token));
    split_into(out.text, &delta);
    delta.by_stop_string = out.matched;
  }
  if (!delta.by_stop_string && event.finish != engine::FinishReason::none) {
    const text::StopMatcher::Output out = stops_.push(detokenizer_.flush());
    split_into(out.text, &delta);
    if (!out.matched) split_into(stops_.flush(), &delta);
    delta.by_stop_string = out.matched;
  }
  if (delta.by_stop_string) delta.finish = engine::FinishReason::stop;
  if (delta.finish != engine::FinishReason::none) delta.reasoning += splitter_.flush().reasoning;
  return delta;
}

}  // namespace assay::serve
