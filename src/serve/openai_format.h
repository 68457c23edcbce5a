#pragma once
// The JSON of OpenAI's answers, written directly: a chunk costs one string, no tree.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/request.h"

namespace assay::serve {

enum class Dialect { chat, completion };

struct Usage {
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;
  int64_t reasoning_tokens = 0;
};

// What stands in every chunk of one answer.
struct AnswerHead {
  Dialect dialect = Dialect::chat;
  std::string id;  // chatcmpl-... or cmpl-...
  int64_t created = 0;
  std::string model;
  bool usage_null = false;  // chunks say "usage":null because one with the usage comes at the end
};

struct Piece {
  int index = 0;
  bool first = false;  // the role is told
  std::string_view content, reasoning;
  std::string_view finish;  // empty: not finished
};

struct FinishedChoice {
  std::string content, reasoning;
  std::string finish;
};

void append_json_string(std::string* out, std::string_view text);

// SSE events, each with its "data: " and blank line.
std::string stream_chunk(const AnswerHead& head, const Piece& piece);
std::string stream_usage(const AnswerHead& head, const Usage& usage);
std::string stream_error(std::string_view error_json);
inline constexpr std::string_view kStreamDone = "data: [DONE]\n\n";

std::string whole_answer(const AnswerHead& head, const std::vector<FinishedChoice>& choices,
                         const Usage& usage);

}  // namespace assay::serve
