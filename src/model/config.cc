#include "model/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/mapped_file.h"

namespace assay::model {
namespace {

namespace json = boost::json;
constexpr size_t kMaxConfigBytes = size_t{16} << 20;  // quantisation lists of large packs reach megabytes
constexpr int64_t kMaxInteger = int64_t{1}
                                << 24;  // no published size comes near; products of three stay in 64 bits

std::string shown(const json::value& value) {
  std::string text = json::serialize(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::string text_or_empty(const json::object& object, const char* name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
}

}  // namespace

Result<Config> Config::load(const std::string& folder) {
  const std::string path = folder + "/config.json";
  auto text = read_file(path, kMaxConfigBytes);
  if (!text) return text.error();
  auto config = parse(*text);
  if (!config) return Error{path + ": " + config.reason()};
  return config;
}

Result<Config> Config::parse(std::string_view text) {
  json::error_code error;
  json::parse_options options;
  options.max_depth = 64;
  json::value value = json::parse({text.data(), text.size()}, error, {}, options);
  if (error) return Error{"not valid JSON: " + error.message()};
  if (!value.is_object()) return Error{"not a JSON object"};
  Config config;
  config.root_ = value.as_object();
  config.fields_ = config.root_;
  if (const json::value* inner = config.root_.if_contains("text_config");
      inner != nullptr && inner->is_object()) {
    config.fields_ = inner->as_object();
  }
  config.model_type_ = text_or_empty(config.root_, "model_type");
  if (const json::value* list = config.root_.if_contains("architectures");
      list != nullptr && list->is_array() && !list->as_array().empty() && list->as_array()[0].is_string()) {
    config.architecture_ = std::string(list->as_array()[0].as_string());
  }
  return config;
}

const json::value* Config::find(const char* name) const {
  const json::value* value = fields_.if_contains(name);
  if (value == nullptr) value = root_.if_contains(name);
  return value != nullptr && value->is_null() ? nullptr : value;
}

bool Config::has(const char* name) const {
  return find(name) != nullptr;
}

int64_t Config::integer(const char* name) {
  if (find(name) == nullptr) {
    refuse(fmt::format("{}: missing, expected an integer", name));
    return 1;
  }
  return integer(name, 1);
}

int64_t Config::integer(const char* name, int64_t fallback) {
  const json::value* value = find(name);
  if (value == nullptr) return fallback;
  const bool is_integer = value->is_int64() || value->is_uint64();
  json::error_code error;
  const int64_t number = is_integer ? value->to_number<int64_t>(error) : 0;
  if (is_integer && !error && number >= 0 && number <= kMaxInteger && (number > 0 || fallback == 0))
    return number;
  refuse(fmt::format("{}: found {}, expected an integer in [{}, 2^24]", name, shown(*value),
                     fallback == 0 ? 0 : 1));
  return 1;
}

double Config::number(const char* name, double fallback) {
  const json::value* value = find(name);
  if (value == nullptr) return fallback;
  if (value->is_number() && std::isfinite(value->to_number<double>())) return value->to_number<double>();
  refuse(fmt::format("{}: found {}, expected a number", name, shown(*value)));
  return fallback;
}

bool Config::boolean(const char* name, bool fallback) {
  const json::value* value = find(name);
  if (value == nullptr) return fallback;
  if (value->is_bool()) return value->as_bool();
  refuse(fmt::format("{}: found {}, expected true or false", name, shown(*value)));
  return fallback;
}

std::string Config::text(const char* name, const std::string& fallback) {
  const json::value* value = find(name);
  if (value == nullptr) return fallback;
  if (value->is_string()) return std::string(value->as_string());
  refuse(fmt::format("{}: found {}, expected a string", name, shown(*value)));
  return fallback;
}

std::vector<std::string> Config::texts(const char* name) {
  std::vector<std::string> list;
  const json::value* value = find(name);
  if (value == nullptr) return list;
  if (value->is_array()) {
    for (const json::value& entry : value->as_array()) {
      if (entry.is_string()) list.emplace_back(entry.as_string());
    }
    if (list.size() == value->as_array().size()) return list;
  }
  refuse(fmt::format("{}: found {}, expected a list of strings", name, shown(*value)));
  return {};
}

std::vector<int64_t> Config::integers(const char* name) {
  std::vector<int64_t> list;
  const json::value* value = find(name);
  if (value == nullptr) return list;
  if (value->is_array()) {
    for (const json::value& entry : value->as_array()) {
      if (entry.is_int64()) list.push_back(entry.as_int64());
    }
    if (list.size() == value->as_array().size()) return list;
  }
  refuse(fmt::format("{}: found {}, expected a list of integers", name, shown(*value)));
  return {};
}

// A key that is not understood may change every position: it is refused, not dropped.
void Config::refuse_unknown_rope(const char* table, const json::object& fields) {
  for (const auto& [key, value] : fields) {
    const std::string name(key);
    const bool known = name == "type" || name == "rope_type" || name == "rope_theta" ||
                       name == "partial_rotary_factor" || name == "mrope_section" ||
                       name == "mrope_interleaved";
    if (!known || value.is_object()) {
      refuse(fmt::format(
          "{}.{}: found {}, supported: rope_type, rope_theta, partial_rotary_factor, mrope_section", table,
          name, shown(value)));
    }
  }
}

Config::Rope Config::rope(double default_theta, double default_partial) {
  Rope rope;
  rope.theta = number("rope_theta", default_theta);
  rope.partial_rotary_factor = number("partial_rotary_factor", default_partial);
  for (const char* table : {"rope_parameters", "rope_scaling"}) {
    const json::value* value = find(table);
    if (value == nullptr) continue;
    if (!value->is_object()) {
      refuse(fmt::format("{}: found {}, expected an object", table, shown(*value)));
      continue;
    }
    const json::object& fields = value->as_object();
    refuse_unknown_rope(table, fields);
    for (const char* key : {"type", "rope_type"}) {
      const std::string type = text_or_empty(fields, key);
      if (!type.empty()) rope.type = type;
    }
    const auto read = [&](const char* key, double* into) {
      const json::value* field = fields.if_contains(key);
      if (field != nullptr && field->is_number()) *into = field->to_number<double>();
    };
    read("rope_theta", &rope.theta);
    read("partial_rotary_factor", &rope.partial_rotary_factor);
  }
  // "mrope" gives pictures three positions; for text they are equal, which is ordinary rope.
  if (rope.type != "default" && rope.type != "mrope") {
    refuse(fmt::format("rope_type: found {:?}, supported: default", rope.type));
  }
  if (!(rope.theta > 0 && rope.theta <= 1e15))
    refuse(fmt::format("rope_theta: found {}, expected a positive number", rope.theta));
  if (!(rope.partial_rotary_factor > 0 && rope.partial_rotary_factor <= 1)) {
    refuse(fmt::format("partial_rotary_factor: found {}, expected a number in (0, 1]",
                       rope.partial_rotary_factor));
  }
  return rope;
}

Result<void> Config::finish() const {
  if (problems_.empty()) return {};
  return Error{fmt::format("config.json: {} problem{}:\n  {}", problems_.size(),
                           problems_.size() == 1 ? "" : "s", fmt::join(problems_, "\n  "))};
}

}  // namespace assay::model
