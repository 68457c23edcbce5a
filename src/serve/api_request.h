#pragma once
// From a request's JSON to checked values. No text is tokenised here; what is returned is within every limit.
#include <boost/json/fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/request.h"
#include "serve/api_error.h"
#include "text/jinja/value.h"

namespace assay::serve {

class FieldReader;

inline constexpr int kMaxChoices = 8;
inline constexpr size_t kMaxStops = 16;
inline constexpr size_t kMaxStopBytes = 256;
inline constexpr size_t kMaxLogitBias = 1024;
inline constexpr size_t kMaxMessages = 2048;
inline constexpr size_t kMaxTools = 128;
inline constexpr size_t kMaxPrompts = 64;  // of one completions request

// What a request is checked against.
struct RequestRules {
  int32_t vocab_size = 0;           // ids of the tokenizer
  engine::SamplingParams defaults;  // temperature, top_p, min_p, top_k, repetition_penalty
};

struct CommonFields {
  std::string model;
  bool stream = false;
  bool include_usage = false;
  int n = 1;
  std::vector<std::string> stop;
  bool skip_special_tokens = true;
  engine::SamplingParams sampling;  // max_tokens and seed are filled in later
  std::optional<uint64_t> seed;
  std::optional<int32_t> max_tokens;  // absent: what is left of the context
  size_t unknown_fields = 0;
};

struct ChatRequest {
  CommonFields common;
  text::jinja::Value messages;  // text parts joined, developer = system
  text::jinja::Value tools;     // none if absent
  text::jinja::Value documents;
  text::jinja::Value kwargs;
  bool add_generation_prompt = true;
  bool continue_final_message = false;
};

struct CompletionRequest {
  CommonFields common;
  bool echo = false;
  // One entry a prompt, one of the two filled.
  struct Prompt {
    std::string text;
    std::vector<engine::TokenId> ids;
  };
  std::vector<Prompt> prompts;
};

Checked<ChatRequest> parse_chat_request(std::string_view body, const RequestRules& rules);
Checked<CompletionRequest> parse_completion_request(std::string_view body, const RequestRules& rules);

struct TokenizeRequest {
  std::string model;
  std::string prompt;
  std::optional<ChatRequest> chat;  // instead of a prompt
};
Checked<TokenizeRequest> parse_tokenize_request(std::string_view body, const RequestRules& rules);
struct DetokenizeRequest {
  std::string model;
  std::vector<engine::TokenId> ids;
};
Checked<DetokenizeRequest> parse_detokenize_request(std::string_view body, const RequestRules& rules);

// Shared by the parsers above.
CommonFields read_common(FieldReader& reader, const RequestRules& rules);
std::vector<engine::TokenId> read_ids(FieldReader& reader, const std::string& param,
                                      const boost::json::array& array, int32_t vocab_size);
void check_messages(FieldReader& reader, const boost::json::array& messages);
text::jinja::Value messages_for_template(const boost::json::array& checked, const text::jinja::Value& same);

}  // namespace assay::serve
