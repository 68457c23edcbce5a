#include "model/golden.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/mapped_file.h"
#include "base/unaligned.h"

namespace assay::model {
namespace {

namespace json = boost::json;
constexpr size_t kMaxGoldenBytes = size_t{256} << 20;

template <class T>
std::vector<T> numbers(const json::object& object, const char* name) {
  std::vector<T> out;
  const json::value* list = object.if_contains(name);
  if (list == nullptr || !list->is_array()) return out;
  for (const json::value& v : list->as_array()) {
    json::error_code error;
    const T number = v.to_number<T>(error);
    if (!error) out.push_back(number);  // a list that came out short is refused by check_golden
  }
  return out;
}

std::optional<double> number(const json::object& object, const char* name) {
  const json::value* v = object.if_contains(name);
  json::error_code error;
  const double value = v == nullptr ? 0 : v->to_number<double>(error);
  return v == nullptr || error ? std::nullopt : std::optional(value);
}

GoldenPrompt read_prompt(const json::object& object, size_t index) {
  GoldenPrompt prompt;
  const json::value* name = object.if_contains("name");
  prompt.name =
      name != nullptr && name->is_string() ? std::string(name->as_string()) : fmt::format("prompt {}", index);
  prompt.ids = numbers<int32_t>(object, "ids");
  prompt.greedy_ids = numbers<int32_t>(object, "greedy_ids");
  prompt.greedy_margin = numbers<double>(object, "greedy_margin");
  prompt.bf16_mean = number(object, "bf16_mean_abs_err");
  prompt.bf16_median = number(object, "bf16_median_abs_err");
  prompt.bf16_p99 = number(object, "bf16_p99_abs_err");
  return prompt;
}

Result<std::vector<GoldenPrompt>> read_prompts(const std::string& path) {
  auto text = read_file(path, kMaxGoldenBytes);
  if (!text) return text.error();
  json::error_code error;
  const json::value root = json::parse(*text, error);
  if (error || !root.is_object()) return Error{path + ": not a JSON object"};
  const json::value* list = root.as_object().if_contains("prompts");
  if (list == nullptr || !list->is_array() || list->as_array().empty())
    return Error{path + ": has no prompts"};
  std::vector<GoldenPrompt> prompts;
  for (const json::value& v : list->as_array()) {
    if (!v.is_object()) return Error{path + ": a prompt is not an object"};
    prompts.push_back(read_prompt(v.as_object(), prompts.size()));
    if (prompts.back().ids.empty())
      return Error{fmt::format("{}: prompt {} has no ids", path, prompts.size() - 1)};
  }
  return prompts;
}

}  // namespace

Result<Golden> Golden::load(const std::string& folder) {
  auto prompts = read_prompts(folder + "/golden.json");
  if (!prompts) return prompts.error();
  auto file = checkpoint::SafetensorsFile::open(folder + "/golden.safetensors");
  if (!file) return file.error();
  return Golden(*std::move(prompts), *std::move(file));
}

const checkpoint::TensorEntry* Golden::find(const std::string& name) const {
  for (const auto& entry : file_.entries()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::optional<Golden::Matrix> Golden::matrix(const std::string& name) const {
  const auto* entry = find(name);
  if (entry == nullptr) return std::nullopt;
  const TensorView view = file_.view(*entry);
  Matrix m;
  m.columns = view.shape.empty() ? 1 : view.shape.back();
  m.rows = m.columns == 0 ? 0 : view.elements() / m.columns;
  for (int64_t i = 0; i < view.elements(); ++i) m.values.push_back(element_as_float(view, i));
  return m;
}

std::optional<std::vector<int32_t>> Golden::integers(const std::string& name) const {
  const auto* entry = find(name);
  if (entry == nullptr) return std::nullopt;
  const TensorView view = file_.view(*entry);
  std::vector<int32_t> out;
  for (int64_t i = 0; i < view.elements(); ++i) {
    int64_t value = 0;
    if (view.dtype == DType::i64) {
      value = load_unaligned<int64_t>(view.data, i);
    } else if (view.dtype == DType::i32) {
      value = load_unaligned<int32_t>(view.data, i);
    } else {
      return std::nullopt;
    }
    out.push_back(static_cast<int32_t>(value));
  }
  return out;
}

}  // namespace assay::model
