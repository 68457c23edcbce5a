#pragma once
// Tokens to a Program. Fails (Failure: syntax or unsupported) with the line and the construct.
#include <string_view>

#include "text/jinja/ast.h"

namespace assay::text::jinja {

Program parse_program(std::string_view source);

}  // namespace assay::text::jinja
