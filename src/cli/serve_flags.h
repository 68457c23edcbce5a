#pragma once
// The flags of `assay serve`: SGLang's names, with vLLM's and llama-server's as aliases. Every known flag is
// obeyed, accepted without effect, or refused with the reason; the table says which.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/options.h"

namespace assay::cli {

struct ServeArguments {
  serve::ServeOptions options;
  std::string model;  // as typed; empty = the embedded one
  std::vector<std::string> key_files;
  bool help = false;
  std::vector<std::string> notes;     // accepted without effect, one line each
  std::vector<std::string> refusals;  // each makes the start fail
};

enum class Effect { obeyed, ignored, refused };
enum class Arity { none, optional, one, many };

struct ServeFlag {
  const char* names;  // canonical first, then aliases; separated by spaces
  const char* value;  // what the help calls the value
  Arity arity;
  Effect effect;
  const char* text;  // help, why it has no effect, or why it is refused
  // obeyed: takes the value. refused: null refuses every value, else an error refuses this one.
  Result<void> (*take)(ServeArguments&, const std::string& value) = nullptr;
};
struct ServeFlagGroup {
  const char* title;
  std::vector<ServeFlag> flags;
};
const std::vector<ServeFlagGroup>& serve_flag_groups();

ServeArguments parse_serve_arguments(const std::vector<std::string>& arguments);
std::string serve_help();

}  // namespace assay::cli
