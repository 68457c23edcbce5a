#include "engine/generation_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <fstream>
#include <sstream>

namespace assay::engine {
namespace {

namespace json = boost::json;
constexpr size_t kMaxFileBytes =
    32u << 20;  // tokenizer_config.json lists added tokens; the largest seen is 1.2 MB

// nullopt when the file is absent.
Result<std::optional<json::object>> read_object(const std::string& path, bool required) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (required) return Error{fmt::format("{}: cannot be read; a model folder holds config.json", path)};
    return std::optional<json::object>();
  }
  std::ostringstream content;
  content << file.rdbuf();
  const std::string text = content.str();
  if (text.size() > kMaxFileBytes)
    return Error{fmt::format("{}: {} bytes, at most {} expected", path, text.size(), kMaxFileBytes)};
  boost::system::error_code ec;
  json::value root = json::parse(text, ec);
  if (ec) return Error{fmt::format("{}: not JSON: {}", path, ec.message())};
  if (!root.is_object()) return Error{fmt::format("{}: expected an object", path)};
  return std::optional<json::object>(std::move(root.as_object()));
}

std::optional<double> number(const json::object& o, const char* name) {
  const json::value* v = o.if_contains(name);
  if (v == nullptr || !v->is_number()) return std::nullopt;
  const double d = v->to_number<double>();
  return std::isfinite(d) ? std::optional(d) : std::nullopt;
}

std::optional<float> in_range(const json::object& o, const char* name, double least, double most) {
  const std::optional<double> d = number(o, name);
  return d && *d >= least && *d <= most ? std::optional(static_cast<float>(*d)) : std::nullopt;
}

void add_ids(const json::object& o, const char* name, std::vector<TokenId>* ids) {
  const json::value* v = o.if_contains(name);
  if (v == nullptr) return;
  const auto add = [&](const json::value& id) {
    if (id.is_int64() && id.as_int64() >= 0 && id.as_int64() <= INT32_MAX)
      ids->push_back(static_cast<TokenId>(id.as_int64()));
  };
  if (v->is_array())
    for (const json::value& id : v->as_array()) add(id);
  else
    add(*v);
}

void take_config(const json::object& config, GenerationConfig* out) {
  add_ids(config, "eos_token_id", &out->eos_ids);
  const auto size = [](const json::object& o, const char* name) {
    return static_cast<int32_t>(std::clamp(number(o, name).value_or(0), 0.0, 1e9));
  };
  out->context_length = size(config, "max_position_embeddings");
  out->vocab_size = size(config, "vocab_size");
  const json::value* text = config.if_contains("text_config");
  if (text == nullptr || !text->is_object()) return;
  const json::object& inner = text->as_object();
  add_ids(inner, "eos_token_id", &out->eos_ids);
  if (const int32_t n = size(inner, "max_position_embeddings")) out->context_length = n;
  if (const int32_t n = size(inner, "vocab_size")) out->vocab_size = n;
}

void take_generation(const json::object& file, GenerationConfig* out) {
  add_ids(file, "eos_token_id", &out->eos_ids);
  out->temperature = in_range(file, "temperature", 0, 100);
  out->top_p = in_range(file, "top_p", 1e-6, 1);
  out->min_p = in_range(file, "min_p", 0, 1);
  out->repetition_penalty = in_range(file, "repetition_penalty", 0.01, 100);
  if (const auto k = in_range(file, "top_k", 0, 1e6)) out->top_k = static_cast<int32_t>(*k);
  const json::value* sample = file.if_contains("do_sample");
  if (sample != nullptr && sample->is_bool() && !sample->as_bool()) out->temperature = 0.0f;
}

// "</s>" or {"content": "</s>", ...}
std::string token_text(const json::object& file, const char* name) {
  const json::value* v = file.if_contains(name);
  if (v != nullptr && v->is_object()) v = v->as_object().if_contains("content");
  return v != nullptr && v->is_string() ? std::string(v->as_string().c_str(), v->as_string().size()) : "";
}

}  // namespace

Result<GenerationConfig> load_generation_config(const std::string& model_dir) {
  GenerationConfig out;
  Result<std::optional<json::object>> config = read_object(model_dir + "/config.json", true);
  if (!config) return config.error();
  take_config(**config, &out);
  Result<std::optional<json::object>> generation = read_object(model_dir + "/generation_config.json", false);
  if (!generation) return generation.error();
  if (*generation) take_generation(**generation, &out);
  Result<std::optional<json::object>> tokenizer = read_object(model_dir + "/tokenizer_config.json", false);
  if (!tokenizer) return tokenizer.error();
  if (*tokenizer) {
    out.eos_token = token_text(**tokenizer, "eos_token");
    out.bos_token = token_text(**tokenizer, "bos_token");
    const json::value* add = (*tokenizer)->if_contains("add_bos_token");
    out.add_bos_token = add != nullptr && add->is_bool() && add->as_bool();
  }
  std::sort(out.eos_ids.begin(), out.eos_ids.end());
  out.eos_ids.erase(std::unique(out.eos_ids.begin(), out.eos_ids.end()), out.eos_ids.end());
  return out;
}

}  // namespace assay::engine
