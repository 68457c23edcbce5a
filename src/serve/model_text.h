#pragma once
// ModelText: what the door knows of a model: tokenizer, chat template, sampling defaults, end tokens. No
// weights.
#include <optional>
#include <string>
#include <vector>

#include "serve/api_request.h"
#include "serve/options.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace assay::serve {

struct ModelText {
  text::Tokenizer tokenizer;
  std::optional<text::ChatTemplate> chat_template;
  std::string no_template_reason;  // why chat is refused when there is none
  RequestRules rules;
  std::vector<engine::TokenId> eos_ids;
  std::optional<engine::TokenId> bos_id;  // put before a raw prompt
  int32_t context_length = 0;

  static Result<ModelText> load(const DoorOptions& options);
};

// A request whose text has become ids, ready for the engine.
struct PreparedPrompt {
  std::vector<engine::TokenId> ids;
  std::string echo;           // text that comes before the answer, for completions with echo
  bool in_reasoning = false;  // the prompt ends inside <think>
};
struct Prepared {
  CommonFields common;  // sampling complete: seed, end tokens; max_tokens stands per prompt below
  std::vector<PreparedPrompt> prompts;
  std::vector<int32_t> max_tokens;  // one a prompt
};

Checked<Prepared> prepare_chat(const ModelText& model, ChatRequest request);
Checked<Prepared> prepare_completion(const ModelText& model, CompletionRequest request);
Checked<std::vector<engine::TokenId>> tokenize(const ModelText& model, const TokenizeRequest& request);

}  // namespace assay::serve
