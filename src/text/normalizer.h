#pragma once
// Normalizer: the "normalizer" of a tokenizer.json, a list of steps over one stretch of text.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/class_regex.h"
#include "text/unicode/normalize.h"

namespace assay::text {

struct NormalizerStep {
  enum class Kind { form, lowercase, strip_accents, strip, prepend, replace };
  Kind kind;
  NormalForm form = NormalForm::nfc;
  bool left = false, right = false;      // strip: which ends
  std::string content = {};              // prepend, replace
  std::vector<ClassRegex> pattern = {};  // replace: one
};

class Normalizer {
 public:
  void add(NormalizerStep step) { steps_.push_back(std::move(step)); }
  // True if `text` surely stays as it is; false means "perhaps".
  bool leaves_alone(std::string_view text) const;
  std::string apply(std::string_view text) const;

 private:
  std::vector<NormalizerStep> steps_;
};

}  // namespace assay::text
