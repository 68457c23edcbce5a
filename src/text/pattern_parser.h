#pragma once
// Reads an Oniguruma pattern into a list of parts: operators that pass through to PCRE2, and sets of code
// points.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/unicode/unicode.h"

namespace assay::text {

struct PatternPart {
  std::string op;  // "(?:", "|", "+", ...; empty if this part is a set
  CodeSet set;
};

Result<std::vector<PatternPart>> parse_pattern(std::string_view pattern);
// The parts that match `text` literally.
std::vector<PatternPart> literal_parts(std::string_view text);

}  // namespace assay::text
