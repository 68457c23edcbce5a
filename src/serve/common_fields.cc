// The fields that chat and completions share: sampling, stops, streaming, and refusals of what comes later.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <charconv>
#include <limits>

#include "serve/api_request.h"
#include "serve/json_reader.h"

namespace assay::serve {
namespace {

namespace json = boost::json;
constexpr int64_t kMostInt32 = std::numeric_limits<int32_t>::max();
// Smallest top_p and repetition penalty: 0 is outside of both ranges.
constexpr double kTiny = 1e-6;

std::string to_string(const json::string& s) {
  return std::string(s.data(), s.size());
}

void read_sampling(FieldReader& r, engine::SamplingParams* s) {
  const auto take = [&](const char* name, double least, double most, float* into) {
    if (const auto v = r.number(name, least, most)) *into = static_cast<float>(*v);
  };
  take("temperature", 0, 2, &s->temperature);
  take("top_p", kTiny, 1, &s->top_p);
  take("min_p", 0, 1, &s->min_p);
  take("presence_penalty", -2, 2, &s->presence_penalty);
  take("frequency_penalty", -2, 2, &s->frequency_penalty);
  take("repetition_penalty", kTiny, 10, &s->repetition_penalty);
  if (const auto k = r.integer("top_k", -1, kMostInt32))
    s->top_k = static_cast<int32_t>(std::max<int64_t>(*k, 0));
  if (const auto n = r.integer("min_tokens", 0, kMostInt32)) s->min_tokens = static_cast<int32_t>(*n);
  s->ignore_eos = r.boolean("ignore_eos").value_or(false);
}

void read_stop(FieldReader& r, std::vector<std::string>* stop) {
  const json::value* value = r.raw("stop");
  if (value == nullptr) return;
  const auto take = [&](const json::value& v, const std::string& param) {
    if (!v.is_string() || v.as_string().empty())
      return r.fail(
          param, fmt::format("'{}' must be a string that is not empty, found {}.", param, describe_kind(v)));
    if (v.as_string().size() > kMaxStopBytes)
      return r.fail(param, fmt::format("'{}' has {} bytes, a stop string has at most {}.", param,
                                       v.as_string().size(), kMaxStopBytes));
    stop->push_back(to_string(v.as_string()));
  };
  if (value->is_string()) return value->as_string().empty() ? void() : take(*value, "stop");
  const json::array* list = r.array("stop", kMaxStops);
  if (list == nullptr) return;
  for (size_t i = 0; i < list->size(); ++i) take((*list)[i], fmt::format("stop[{}]", i));
}

void read_logit_bias(FieldReader& r, const RequestRules& rules, engine::SamplingParams* s) {
  const json::object* bias = r.object("logit_bias");
  if (bias == nullptr) return;
  if (bias->size() > kMaxLogitBias)
    return r.fail("logit_bias", fmt::format("'logit_bias' has {} entries, at most {} are allowed.",
                                            bias->size(), kMaxLogitBias));
  for (const auto& entry : *bias) {
    const std::string key(entry.key().data(), entry.key().size());
    const std::string param = "logit_bias." + key;
    int32_t id = -1;
    const auto [end, ec] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (ec != std::errc() || end != key.data() + key.size() || id < 0 || id >= rules.vocab_size)
      return r.fail("logit_bias", fmt::format("'{}': the key must be a token id from 0 to {}.", param,
                                              rules.vocab_size - 1));
    if (!entry.value().is_number() || !(std::abs(entry.value().to_number<double>()) <= 100))
      return r.fail("logit_bias", fmt::format("'{}' must be a number from -100 to 100, found {}.", param,
                                              describe_kind(entry.value())));
    s->logit_bias.emplace_back(id, entry.value().to_number<float>());
  }
}

void read_limits(FieldReader& r, CommonFields* c) {
  const auto old_name = r.integer("max_tokens", 1, kMostInt32);
  const auto new_name = r.integer("max_completion_tokens", 1, kMostInt32);
  if (old_name) c->max_tokens = static_cast<int32_t>(*old_name);
  if (new_name) c->max_tokens = static_cast<int32_t>(*new_name);
  if (c->max_tokens && c->sampling.min_tokens > *c->max_tokens)
    r.fail("min_tokens", fmt::format("'min_tokens' is {}, more than the {} of max_tokens.",
                                     c->sampling.min_tokens, *c->max_tokens));
}

void read_stream(FieldReader& r, CommonFields* c) {
  c->stream = r.boolean("stream").value_or(false);
  const json::object* options = r.object("stream_options");
  if (options == nullptr) return;
  if (!c->stream) return r.fail("stream_options", "'stream_options' is allowed only with \"stream\": true.");
  FieldReader inner(*options, "stream_options");
  c->include_usage = inner.boolean("include_usage").value_or(false);
  if (inner.error()) r.fail(inner.error()->param, inner.error()->message);
}

void read_response_format(FieldReader& r) {
  const json::object* format = r.object("response_format");
  if (format == nullptr) return;
  const json::value* type = format->if_contains("type");
  if (type != nullptr && type->is_string() && type->as_string() == "text") return;
  r.fail("response_format",
         "'response_format' can only be {\"type\": \"text\"} in this version: structured output is "
         "not built yet. Ask for JSON in the prompt instead.",
         "unsupported_parameter");
}

// Known fields whose work is not built yet: better a clear refusal than a silent other answer.
void refuse_later_features(FieldReader& r) {
  r.refuse_unless_false("logprobs", "log probabilities are not built yet");
  if (const json::value* top = r.raw("top_logprobs");
      top != nullptr && !(top->is_int64() && top->as_int64() == 0))
    r.refuse("top_logprobs", "log probabilities are not built yet");
  for (const char* name : {"functions", "function_call"})
    r.refuse(name, "it is the old form of tools; use 'tools' and 'tool_choice'");
  for (const char* name : {"audio", "prediction", "web_search_options"})
    r.refuse(name, "this server generates text only");
  for (const char* name : {"regex", "ebnf", "structured_outputs", "guided_json", "guided_regex",
                           "guided_choice", "guided_grammar", "json_schema"})
    r.refuse(name, "structured output is not built yet");
  r.refuse("best_of", "send 'n' and choose among the answers");
  r.refuse("suffix", "fill-in-the-middle is not built");
  r.refuse("prompt_logprobs", "log probabilities are not built yet");
}

}  // namespace

std::vector<engine::TokenId> read_ids(FieldReader& r, const std::string& param, const json::array& array,
                                      int32_t vocab_size) {
  std::vector<engine::TokenId> ids;
  ids.reserve(array.size());
  for (size_t i = 0; i < array.size(); ++i) {
    const json::value& v = array[i];
    if (!v.is_int64() || v.as_int64() < 0 || v.as_int64() >= vocab_size) {
      r.fail(param, fmt::format("'{}[{}]' must be a token id from 0 to {}, found {}.", param, i,
                                vocab_size - 1, describe_kind(v)));
      break;
    }
    ids.push_back(static_cast<engine::TokenId>(v.as_int64()));
  }
  return ids;
}

CommonFields read_common(FieldReader& r, const RequestRules& rules) {
  CommonFields c;
  c.model = r.text("model", 512).value_or("");
  c.sampling = rules.defaults;
  c.n = static_cast<int>(r.integer("n", 1, kMaxChoices).value_or(1));
  read_sampling(r, &c.sampling);
  read_stop(r, &c.stop);
  read_logit_bias(r, rules, &c.sampling);
  if (const json::array* ids = r.array("stop_token_ids", kMaxLogitBias))
    c.sampling.stop_ids = read_ids(r, "stop_token_ids", *ids, rules.vocab_size);
  if (const auto seed =
          r.integer("seed", std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()))
    c.seed = static_cast<uint64_t>(*seed);
  read_limits(r, &c);
  read_stream(r, &c);
  c.skip_special_tokens = r.boolean("skip_special_tokens").value_or(true);
  read_response_format(r);
  refuse_later_features(r);
  for (const char* name :
       {"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key"})
    r.accept(name);
  return c;
}

}  // namespace assay::serve
