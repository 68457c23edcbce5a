#pragma once
// ChatTemplate: a model's chat template, rendered as transformers' apply_chat_template does, and tokenised so
// that text from the request never becomes a control token.
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/jinja/value.h"
#include "text/tokenizer.h"

namespace assay::text {

struct ChatInput {
  jinja::Value messages;   // list of dicts; tool_calls[].function.arguments may be a JSON string or an object
  jinja::Value tools;      // list, or none if absent
  jinja::Value documents;  // list, or none
  bool add_generation_prompt = true;
  bool continue_final_message = false;     // excludes add_generation_prompt
  std::string continue_field = "content";  // which field of the last message goes on
  jinja::Value kwargs;                     // dict: further variables of the template, or none
  bool drop_nulls = true;                  // message keys whose value is null vanish, as in transformers
  bool parse_arguments = true;  // tool-call arguments given as a JSON string become an object first
  std::optional<std::tm> now;   // what strftime_now tells; the clock if absent
};

// Why a render failed. Each is the request's fault (HTTP 400).
enum class RenderFailure {
  none,
  raised,   // the template called raise_exception: the error's message is the template's own, word for word
  failed,   // the template failed on this input (undefined value, wrong type)
  refused,  // refused before or after rendering (flags that exclude each other, missing field)
  budget,   // too many operations, too much output, too deep
};

class ChatTemplate {
 public:
  using SpecialTokens = std::map<std::string, std::string>;  // "bos_token" -> "<s>"

  // Template: `override_file` if given, else chat_template.jinja, chat_template.json or tokenizer_config.json
  // of model_dir. Special tokens: tokenizer_config.json, special_tokens_map.json.
  static Result<ChatTemplate> load(const std::string& model_dir, const std::string& override_file);
  static Result<ChatTemplate> parse(std::string source, SpecialTokens special_tokens);

  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // The prompt as text. `failure` (may be null) tells what kind of error it was.
  Result<std::string> render(const ChatInput& input, RenderFailure* failure = nullptr) const;
  // The prompt as ids: template text with all added tokens, request text with none.
  Result<std::vector<int32_t>> encode(const ChatInput& input, const Tokenizer& tokenizer,
                                      RenderFailure* failure = nullptr) const;

  const std::string& source() const;
  const SpecialTokens& special_tokens() const;
  // True when this template wants tool-call arguments as the JSON string of the API, not as an object.
  bool wants_string_arguments() const;

 private:
  struct Impl;
  explicit ChatTemplate(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace assay::text
