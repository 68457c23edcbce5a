#include <fmt/format.h>

#include <boost/json.hpp>

#include "serve/api_request.h"
#include "serve/json_reader.h"

namespace assay::serve {
namespace {

namespace json = boost::json;
using Prompt = CompletionRequest::Prompt;

void add_text(FieldReader& r, const json::value& v, const std::string& param, std::vector<Prompt>* out) {
  if (v.as_string().empty())
    return r.fail(param, fmt::format("'{}' is empty: at least one token is needed.", param));
  out->push_back({std::string(v.as_string().data(), v.as_string().size()), {}});
}

void add_ids(FieldReader& r, const json::array& ids, const std::string& param, int32_t vocab,
             std::vector<Prompt>* out) {
  if (ids.empty()) return r.fail(param, fmt::format("'{}' is empty: at least one token is needed.", param));
  out->push_back({"", read_ids(r, param, ids, vocab)});
}

// A string, ids, a list of strings, or a list of id lists.
void read_prompt(FieldReader& r, int32_t vocab, std::vector<Prompt>* out) {
  const json::value* prompt = r.raw("prompt");
  if (prompt == nullptr)
    return r.fail("prompt", "'prompt' is missing: a string, a list of strings, or token ids.");
  if (prompt->is_string()) return add_text(r, *prompt, "prompt", out);
  if (!prompt->is_array())
    return r.fail("prompt",
                  fmt::format("'prompt' must be a string, a list of strings, or token ids, found {}.",
                              describe_kind(*prompt)));
  const json::array& list = prompt->as_array();
  if (list.empty()) return r.fail("prompt", "'prompt' is empty: at least one token is needed.");
  if (list[0].is_number()) return add_ids(r, list, "prompt", vocab, out);
  if (list.size() > kMaxPrompts)
    return r.fail("prompt", fmt::format("'prompt' holds {} prompts, at most {} are allowed.", list.size(),
                                        kMaxPrompts));
  for (size_t i = 0; i < list.size() && !r.error(); ++i) {
    const std::string param = fmt::format("prompt[{}]", i);
    if (list[i].kind() != list[0].kind() || !(list[i].is_string() || list[i].is_array()))
      r.fail(param, fmt::format("'{}' is {}; all prompts must be strings, or all lists of token ids.", param,
                                describe_kind(list[i])));
    else if (list[i].is_string())
      add_text(r, list[i], param, out);
    else
      add_ids(r, list[i].as_array(), param, vocab, out);
  }
}

}  // namespace

Checked<CompletionRequest> parse_completion_request(std::string_view body, const RequestRules& rules) {
  Checked<json::object> root = parse_json_object(body);
  if (!root) return root.error();
  FieldReader reader(*root);
  CompletionRequest request;
  request.common = read_common(reader, rules);
  request.echo = reader.boolean("echo").value_or(false);
  read_prompt(reader, rules.vocab_size, &request.prompts);
  reader.refuse("messages", "chat goes to /v1/chat/completions");
  request.common.unknown_fields = reader.unknown_fields();
  if (reader.error()) return *reader.error();
  return request;
}

Checked<DetokenizeRequest> parse_detokenize_request(std::string_view body, const RequestRules& rules) {
  Checked<json::object> root = parse_json_object(body);
  if (!root) return root.error();
  FieldReader reader(*root);
  DetokenizeRequest request;
  request.model = reader.text("model", 512).value_or("");
  const json::array* ids = reader.array("tokens", kMaxJsonNumbers);
  if (ids == nullptr) reader.fail("tokens", "'tokens' is missing: a list of token ids.");
  if (ids != nullptr) request.ids = read_ids(reader, "tokens", *ids, rules.vocab_size);
  if (reader.error()) return *reader.error();
  return request;
}

}  // namespace assay::serve
