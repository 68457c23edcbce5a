#include "serve/openai_format.h"

#include <fmt/format.h>

namespace assay::serve {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(&out, text);
  return out;
}

std::string quoted_or_null(std::string_view text) {
  return text.empty() ? "null" : quoted(text);
}

std::string opening(const AnswerHead& head, bool chunk) {
  const char* object = head.dialect == Dialect::completion ? "text_completion"
                       : chunk                             ? "chat.completion.chunk"
                                                           : "chat.completion";
  return fmt::format(R"({{"id":{},"object":"{}","created":{},"model":{},)", quoted(head.id), object,
                     head.created, quoted(head.model));
}

std::string usage_object(const Usage& u) {
  return fmt::format(R"({{"prompt_tokens":{},"completion_tokens":{},"total_tokens":{},)"
                     R"("prompt_tokens_details":{{"cached_tokens":0}},)"
                     R"("completion_tokens_details":{{"reasoning_tokens":{}}}}})",
                     u.prompt_tokens, u.completion_tokens, u.prompt_tokens + u.completion_tokens,
                     u.reasoning_tokens);
}

// Both names: clients know one or the other.
std::string reasoning_fields(std::string_view reasoning) {
  const std::string text = quoted(reasoning);
  return fmt::format(R"("reasoning_content":{},"reasoning":{})", text, text);
}

std::string delta_object(const Piece& piece) {
  std::string fields;
  const auto add = [&](const std::string& field) {
    if (!fields.empty()) fields += ',';
    fields += field;
  };
  if (piece.first) add(R"("role":"assistant")");
  if (!piece.reasoning.empty()) add(reasoning_fields(piece.reasoning));
  if (piece.first || !piece.content.empty()) add(fmt::format(R"("content":{})", quoted(piece.content)));
  return fmt::format("{{{}}}", fields);
}

}  // namespace

void append_json_string(std::string* out, std::string_view text) {
  out->push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
        *out += "\\\"";
        break;
      case '\\':
        *out += "\\\\";
        break;
      case '\n':
        *out += "\\n";
        break;
      case '\r':
        *out += "\\r";
        break;
      case '\t':
        *out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          *out += fmt::format("\\u{:04x}", static_cast<int>(c));
        else
          out->push_back(c);
    }
  }
  out->push_back('"');
}

std::string stream_chunk(const AnswerHead& head, const Piece& piece) {
  const std::string finish = quoted_or_null(piece.finish);
  const std::string payload =
      head.dialect == Dialect::chat
          ? fmt::format(R"("delta":{},"logprobs":null,"finish_reason":{})", delta_object(piece), finish)
          : fmt::format(R"("text":{},"logprobs":null,"finish_reason":{})", quoted(piece.content), finish);
  return fmt::format("data: {}\"choices\":[{{\"index\":{},{}}}]{}}}\n\n", opening(head, true), piece.index,
                     payload, head.usage_null ? ",\"usage\":null" : "");
}

std::string stream_usage(const AnswerHead& head, const Usage& usage) {
  return fmt::format("data: {}\"choices\":[],\"usage\":{}}}\n\n", opening(head, true), usage_object(usage));
}

std::string stream_error(std::string_view error_json) {
  return fmt::format("data: {}\n\n", error_json);
}

std::string whole_answer(const AnswerHead& head, const std::vector<FinishedChoice>& choices,
                         const Usage& usage) {
  std::string list;
  for (size_t i = 0; i < choices.size(); ++i) {
    const FinishedChoice& c = choices[i];
    if (i > 0) list += ',';
    list += fmt::format("{{\"index\":{},", i);
    if (head.dialect == Dialect::completion)
      list += fmt::format("\"text\":{},", quoted(c.content));
    else
      list += fmt::format(
          R"("message":{{"role":"assistant","content":{}{}}},)", quoted(c.content),
          c.reasoning.empty() ? std::string() : fmt::format(",{}", reasoning_fields(c.reasoning)));
    list += fmt::format("\"logprobs\":null,\"finish_reason\":{}}}", quoted_or_null(c.finish));
  }
  return fmt::format("{}\"choices\":[{}],\"usage\":{}}}", opening(head, false), list, usage_object(usage));
}

}  // namespace assay::serve
