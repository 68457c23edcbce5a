#pragma once
// Pretokenizer: the "pre_tokenizer" of a tokenizer.json. Cuts text into the pieces that BPE merges inside.
// Each step runs on the pieces of the step before, so look-ahead never sees past a piece.
#include <string>
#include <string_view>
#include <vector>

#include "text/class_regex.h"

namespace assay::text {

enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

struct PretokenizerStep {
  std::vector<ClassRegex> pattern = {};  // one, or none (nothing to split)
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;        // the pattern describes the pieces, not the delimiters
  bool prefix_space = false;  // first put a space before a piece that has none
};

class Pretokenizer {
 public:
  void add(PretokenizerStep step) { steps_.push_back(std::move(step)); }
  // Calls visit(piece) for each piece, in order.
  template <class Visit>
  void split(std::string_view text, Visit visit) const {
    std::string changed;
    std::vector<Span> pieces;
    run(&text, &changed, &pieces);
    for (const Span& piece : pieces) visit(text.substr(piece.begin, piece.end - piece.begin));
  }

 private:
  // `text` moves to `changed` if a step adds spaces.
  void run(std::string_view* text, std::string* changed, std::vector<Span>* pieces) const;
  std::vector<PretokenizerStep> steps_;
};

}  // namespace assay::text
