#pragma once
// Template text to tokens. White space control (trim_blocks, lstrip_blocks, - and + marks) is settled here: a
// data token holds exactly what will be printed.
#include <string>
#include <string_view>
#include <vector>

namespace assay::text::jinja {

struct Token {
  enum class Kind {
    data,
    print_begin,
    print_end,
    block_begin,
    block_end,
    name,
    string,
    integer,
    real,
    op,
    end
  };
  Kind kind;
  std::string text;  // string: with escapes resolved; numbers: without underscores
  int line;
};

// Ends with a token of kind end. Fails (Failure, syntax) on what is no template.
std::vector<Token> tokenize(std::string_view source);

}  // namespace assay::text::jinja
