#include "text/pretokenizer.h"

#include <algorithm>

namespace assay::text {
namespace {

void merge_with_previous(std::vector<Span>* spans) {
  std::vector<Span> out;
  bool after_match = false;
  for (const Span& span : *spans) {
    if (span.match && !after_match && !out.empty())
      out.back().end = span.end;
    else
      out.push_back(span);
    after_match = span.match;
  }
  *spans = std::move(out);
}

void merge_with_next(std::vector<Span>* spans) {
  std::vector<Span> out;
  bool after_match = false;
  for (auto span = spans->rbegin(); span != spans->rend(); ++span) {
    if (span->match && !after_match && !out.empty())
      out.back().begin = span->begin;
    else
      out.push_back(*span);
    after_match = span->match;
  }
  std::reverse(out.begin(), out.end());
  *spans = std::move(out);
}

void join_equal(std::vector<Span>* spans) {
  std::vector<Span> out;
  for (const Span& span : *spans) {
    if (!out.empty() && out.back().match == span.match)
      out.back().end = span.end;
    else
      out.push_back(span);
  }
  *spans = std::move(out);
}

void apply_behavior(SplitBehavior behavior, std::vector<Span>* spans) {
  switch (behavior) {
    case SplitBehavior::isolated:
      return;
    case SplitBehavior::removed:
      std::erase_if(*spans, [](const Span& s) { return s.match; });
      return;
    case SplitBehavior::merged_with_previous:
      return merge_with_previous(spans);
    case SplitBehavior::merged_with_next:
      return merge_with_next(spans);
    case SplitBehavior::contiguous:
      return join_equal(spans);
  }
}

void add_spaces(std::string_view* text, std::string* changed, std::vector<Span>* pieces) {
  std::string out;
  for (Span& piece : *pieces) {
    const std::string_view bytes = text->substr(piece.begin, piece.end - piece.begin);
    const size_t begin = out.size();
    if (!bytes.starts_with(' ')) out += ' ';
    out += bytes;
    piece = {begin, out.size(), false};
  }
  *changed = std::move(out);
  *text = *changed;
}

}  // namespace

void Pretokenizer::run(std::string_view* text, std::string* changed, std::vector<Span>* pieces) const {
  if (text->empty()) return;
  pieces->push_back({0, text->size(), false});
  std::vector<Span> spans, next;
  for (const PretokenizerStep& step : steps_) {
    if (step.prefix_space) add_spaces(text, changed, pieces);
    if (step.pattern.empty()) continue;
    next.clear();
    for (const Span& piece : *pieces) {
      spans.clear();
      step.pattern[0].split(text->substr(piece.begin, piece.end - piece.begin), &spans);
      if (step.invert)
        for (Span& span : spans) span.match = !span.match;
      apply_behavior(step.behavior, &spans);
      for (const Span& span : spans)
        next.push_back({piece.begin + span.begin, piece.begin + span.end, span.match});
    }
    pieces->swap(next);
  }
}

}  // namespace assay::text
