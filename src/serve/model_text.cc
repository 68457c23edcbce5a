#include "serve/model_text.h"

#include <algorithm>

#include "base/log.h"
#include "engine/generation_config.h"
#include "serve/http_format.h"

namespace assay::serve {
namespace {

engine::SamplingParams sampling_defaults(const engine::GenerationConfig& config) {
  engine::SamplingParams s;
  s.temperature = config.temperature.value_or(s.temperature);
  s.top_p = config.top_p.value_or(s.top_p);
  s.min_p = config.min_p.value_or(s.min_p);
  s.top_k = config.top_k.value_or(s.top_k);
  s.repetition_penalty = config.repetition_penalty.value_or(s.repetition_penalty);
  return s;
}

std::vector<engine::TokenId> all_eos_ids(const engine::GenerationConfig& config,
                                         const text::Tokenizer& tokenizer) {
  std::vector<engine::TokenId> ids = config.eos_ids;
  if (const auto id = tokenizer.added_token_id(config.eos_token); id && !config.eos_token.empty())
    ids.push_back(*id);
  std::erase_if(ids, [&](engine::TokenId id) { return id >= tokenizer.size(); });
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

// Does the last <think> of the prompt stand without its </think>?
bool ends_in_reasoning(const text::Tokenizer& tokenizer, const std::vector<engine::TokenId>& ids) {
  const auto open = tokenizer.added_token_id("<think>"), close = tokenizer.added_token_id("</think>");
  if (!open || !close) return false;
  const auto last =
      std::find_if(ids.rbegin(), ids.rend(), [&](engine::TokenId id) { return id == *open || id == *close; });
  return last != ids.rend() && *last == *open;
}

ApiError render_error(const std::string& why, text::RenderFailure failure) {
  switch (failure) {
    case text::RenderFailure::raised:
      return bad_request("messages", "The chat template refuses these messages: " + why);
    case text::RenderFailure::budget:
      return bad_request("messages", "The chat template needs too much for these messages: " + why);
    default:
      return bad_request("messages", "The chat template fails on these messages: " + why);
  }
}

Checked<std::vector<engine::TokenId>> encode_chat(const ModelText& model, const ChatRequest& request) {
  if (!model.chat_template) return bad_request("messages", model.no_template_reason, "no_chat_template");
  text::ChatInput input;
  input.messages = request.messages;
  input.tools = request.tools;
  input.documents = request.documents;
  input.kwargs = request.kwargs;
  input.add_generation_prompt = request.add_generation_prompt;
  input.continue_final_message = request.continue_final_message;
  text::RenderFailure failure = text::RenderFailure::none;
  Result<std::vector<int32_t>> ids = model.chat_template->encode(input, model.tokenizer, &failure);
  if (!ids) return render_error(ids.reason(), failure);
  if (ids->empty()) return bad_request("messages", "The chat template renders these messages to nothing.");
  return std::move(*ids);
}

std::vector<engine::TokenId> encode_prompt(const ModelText& model, const std::string& text) {
  std::vector<engine::TokenId> ids = model.tokenizer.encode(text, text::AddedTokens::all);
  if (model.bos_id && (ids.empty() || ids.front() != *model.bos_id)) ids.insert(ids.begin(), *model.bos_id);
  return ids;
}

// Fills in what depends on the prompts' lengths and what the client left open.
Checked<Prepared> complete(const ModelText& model, Prepared prepared, const char* param) {
  CommonFields& common = prepared.common;
  common.sampling.eos_ids = model.eos_ids;
  common.sampling.seed = common.seed ? *common.seed : random_u64();
  for (const PreparedPrompt& prompt : prepared.prompts) {
    const int64_t length = static_cast<int64_t>(prompt.ids.size());
    const int64_t room = model.context_length - length;
    const int64_t wanted = common.max_tokens.value_or(std::max<int64_t>(room, 1));
    if (wanted > room)
      return bad_request(
          param,
          fmt::format("This model's context holds {} tokens. The prompt has {} and {} were asked for "
                      "the answer: {} in all. Shorten the prompt or lower max_tokens{}.",
                      model.context_length, length, wanted, length + wanted,
                      room > 0 ? fmt::format(" to at most {}", room) : ""),
          "context_length_exceeded");
    prepared.max_tokens.push_back(static_cast<int32_t>(wanted));
  }
  return prepared;
}

}  // namespace

Result<ModelText> ModelText::load(const DoorOptions& options) {
  const std::string& from = options.tokenizer_path.empty() ? options.model_path : options.tokenizer_path;
  Result<text::Tokenizer> tokenizer = text::Tokenizer::load(from);
  if (!tokenizer) return tokenizer.error();
  Result<engine::GenerationConfig> config = engine::load_generation_config(options.model_path);
  if (!config) return config.error();
  ModelText model{std::move(*tokenizer), std::nullopt, "", {}, {}, std::nullopt, 0};
  Result<text::ChatTemplate> chat = text::ChatTemplate::load(from, options.chat_template);
  if (chat) {
    model.chat_template = std::move(*chat);
  } else {
    if (!options.chat_template.empty()) return chat.error();
    model.no_template_reason = "This model can only complete text (/v1/completions): " + chat.reason();
    log_warning("no chat: {}", chat.reason());
  }
  model.rules.vocab_size = model.tokenizer.size();
  if (options.sampling_from_model) model.rules.defaults = sampling_defaults(*config);
  model.eos_ids = all_eos_ids(*config, model.tokenizer);
  if (config->add_bos_token && !config->bos_token.empty())
    model.bos_id = model.tokenizer.added_token_id(config->bos_token);
  model.context_length = options.context_length > 0 ? options.context_length : config->context_length;
  if (model.context_length <= 0)
    return Error{fmt::format("{}/config.json does not say max_position_embeddings; give --context-length",
                             options.model_path)};
  return model;
}

Checked<Prepared> prepare_chat(const ModelText& model, ChatRequest request) {
  Checked<std::vector<engine::TokenId>> ids = encode_chat(model, request);
  if (!ids) return ids.error();
  Prepared prepared;
  prepared.common = std::move(request.common);
  const bool in_reasoning = ends_in_reasoning(model.tokenizer, *ids);
  prepared.prompts.push_back({std::move(*ids), "", in_reasoning});
  return complete(model, std::move(prepared), "messages");
}

Checked<Prepared> prepare_completion(const ModelText& model, CompletionRequest request) {
  Prepared prepared;
  for (CompletionRequest::Prompt& prompt : request.prompts) {
    PreparedPrompt p;
    p.ids = prompt.ids.empty() ? encode_prompt(model, prompt.text) : prompt.ids;
    if (request.echo) p.echo = prompt.ids.empty() ? prompt.text : model.tokenizer.decode(prompt.ids, false);
    prepared.prompts.push_back(std::move(p));
  }
  prepared.common = std::move(request.common);
  return complete(model, std::move(prepared), "prompt");
}

Checked<std::vector<engine::TokenId>> tokenize(const ModelText& model, const TokenizeRequest& request) {
  if (request.chat) return encode_chat(model, *request.chat);
  return encode_prompt(model, request.prompt);
}

}  // namespace assay::serve
