#pragma once
// ClassRegex: the regular expressions of tokenizer.json (Oniguruma syntax), matched by PCRE2 over character
// classes. Every set in the pattern is worked out here with Unicode 16 data; code points that no set tells
// apart share one one-byte symbol, and PCRE2 (JIT) sees only symbols. So PCRE2's own Unicode version never
// matters, and [a&&[^b]] means what it says. Syntax outside of what published tokenizers use is refused with
// its name.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::text {

struct Span {
  size_t begin, end;  // bytes
  bool match;
};

class ClassRegex {
 public:
  static Result<ClassRegex> compile(std::string_view pattern);
  static Result<ClassRegex> literal(std::string_view text);

  ClassRegex(ClassRegex&&) noexcept;
  ClassRegex& operator=(ClassRegex&&) noexcept;
  ~ClassRegex();

  // Cuts well-formed `text` into matches and what lies between them, in order, and appends them; empty
  // matches are ignored. If PCRE2 gives up (match limit) the rest is one span that is no match.
  void split(std::string_view text, std::vector<Span>* out) const;

 private:
  struct Impl;
  explicit ClassRegex(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace assay::text
