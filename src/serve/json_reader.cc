#include "serve/json_reader.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <cmath>
#include <set>

namespace assay::serve {
namespace {

namespace json = boost::json;
using boost::system::error_code;

// Walks the text without building anything.
struct Checker {
  static constexpr size_t max_object_size = kMaxJsonNodes;
  static constexpr size_t max_array_size = kMaxJsonNumbers;
  static constexpr size_t max_key_size = 64u << 10;
  static constexpr size_t max_string_size = kMaxBodyBytes;

  std::vector<std::set<std::string>> keys;  // of the objects that are open
  std::string key;
  size_t nodes = 0, numbers = 0;
  std::string why;  // the reason when it is not the parser's own

  bool count(size_t* what, size_t most, const char* name, error_code& ec) {
    if (++*what <= most) return true;
    return refuse(fmt::format("more than {} {}", most, name), ec);
  }
  bool node(error_code& ec) { return count(&nodes, kMaxJsonNodes, "values", ec); }
  bool refuse(std::string reason, error_code& ec) {
    why = std::move(reason);
    ec = make_error_code(json::error::syntax);
    return false;
  }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code& ec) {
    keys.emplace_back();
    return node(ec);
  }
  bool on_object_end(size_t, error_code&) {
    keys.pop_back();
    return true;
  }
  bool on_array_begin(error_code& ec) { return node(ec); }
  bool on_array_end(size_t, error_code&) { return true; }
  bool on_key_part(json::string_view part, size_t, error_code&) {
    key.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, size_t, error_code& ec) {
    key.append(part.data(), part.size());
    if (!keys.back().insert(key).second)
      return refuse(fmt::format("the key \"{}\" stands twice in one object", key.substr(0, 64)), ec);
    key.clear();
    return true;
  }
  bool on_string_part(json::string_view, size_t, error_code&) { return true; }
  bool on_string(json::string_view, size_t, error_code& ec) { return node(ec); }
  bool on_number_part(json::string_view, error_code&) { return true; }
  bool on_int64(int64_t, json::string_view, error_code& ec) { return number(ec); }
  bool on_uint64(uint64_t, json::string_view, error_code& ec) { return number(ec); }
  bool on_double(double value, json::string_view, error_code& ec) {
    if (!std::isfinite(value)) return refuse("a number beyond the range of a double", ec);
    return number(ec);
  }
  bool number(error_code& ec) { return count(&numbers, kMaxJsonNumbers, "numbers", ec); }
  bool on_bool(bool, error_code& ec) { return node(ec); }
  bool on_null(error_code& ec) { return node(ec); }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }
};

json::parse_options strict() {
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  return options;
}

ApiError not_json(std::string why) {
  return bad_request("", "The body is not the JSON that was expected: " + why + ".", "invalid_json");
}

}  // namespace

Checked<json::object> parse_json_object(std::string_view text) {
  json::basic_parser<Checker> checker(strict());
  error_code ec;
  const size_t used = checker.write_some(false, text.data(), text.size(), ec);
  if (ec && !checker.handler().why.empty()) return not_json(checker.handler().why);
  if (ec == json::error::too_deep)
    return not_json(fmt::format("nested deeper than {} levels", kMaxJsonDepth));
  if (ec) return not_json(fmt::format("{} at byte {}", ec.message(), used));
  if (text.find_first_not_of(" \t\r\n", used) != text.npos)
    return not_json(fmt::format("extra text at byte {}", used));
  json::value root = json::parse(json::string_view(text.data(), text.size()), ec, {}, strict());
  if (ec) return not_json(ec.message());
  if (!root.is_object()) return not_json("an object was expected, found " + describe_kind(root));
  return std::move(root.as_object());
}

std::string describe_kind(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return value.as_bool() ? "true" : "false";
    case json::kind::int64:
      return fmt::format("{}", value.as_int64());
    case json::kind::uint64:
      return fmt::format("{}", value.as_uint64());
    case json::kind::double_:
      return fmt::format("{}", value.as_double());
    case json::kind::string:
      return value.as_string().empty() ? "an empty string" : "a string";
    case json::kind::array:
      return fmt::format("an array of {}", value.as_array().size());
    case json::kind::object:
      return "an object";
  }
  return "?";
}

std::string FieldReader::path(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

void FieldReader::fail(std::string param, std::string message, std::string code) {
  if (!error_) error_ = bad_request(std::move(param), std::move(message), std::move(code));
}

const json::value* FieldReader::raw(const char* name) {
  known_.insert(name);
  const json::value* value = object_.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::optional<bool> FieldReader::boolean(const char* name) {
  const json::value* value = raw(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_bool()) return value->as_bool();
  fail(path(name), fmt::format("'{}' must be true or false, found {}.", path(name), describe_kind(*value)));
  return std::nullopt;
}

std::optional<int64_t> FieldReader::integer(const char* name, int64_t least, int64_t most) {
  const json::value* value = raw(name);
  if (value == nullptr) return std::nullopt;
  std::optional<int64_t> found;
  if (value->is_int64()) found = value->as_int64();
  // 5.0 is an integer for many clients.
  if (value->is_double() && std::trunc(value->as_double()) == value->as_double() &&
      std::abs(value->as_double()) < 9e15)
    found = static_cast<int64_t>(value->as_double());
  if (found && *found >= least && *found <= most) return found;
  fail(path(name), fmt::format("'{}' must be an integer from {} to {}, found {}.", path(name), least, most,
                               describe_kind(*value)));
  return std::nullopt;
}

std::optional<double> FieldReader::number(const char* name, double least, double most) {
  const json::value* value = raw(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) {
    const double found = value->to_number<double>();
    if (found >= least && found <= most) return found;
  }
  fail(path(name), fmt::format("'{}' must be a number from {} to {}, found {}.", path(name), least, most,
                               describe_kind(*value)));
  return std::nullopt;
}

std::optional<std::string> FieldReader::text(const char* name, size_t most_bytes) {
  const json::value* value = raw(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string() && value->as_string().size() <= most_bytes)
    return std::string(value->as_string().data(), value->as_string().size());
  fail(path(name), value->is_string()
                       ? fmt::format("'{}' has {} bytes, at most {} are allowed.", path(name),
                                     value->as_string().size(), most_bytes)
                       : fmt::format("'{}' must be a string, found {}.", path(name), describe_kind(*value)));
  return std::nullopt;
}

const json::array* FieldReader::array(const char* name, size_t most) {
  const json::value* value = raw(name);
  if (value == nullptr) return nullptr;
  if (value->is_array() && value->as_array().size() <= most) return &value->as_array();
  fail(path(name), fmt::format("'{}' must be an array of at most {} entries, found {}.", path(name), most,
                               describe_kind(*value)));
  return nullptr;
}

const json::object* FieldReader::object(const char* name) {
  const json::value* value = raw(name);
  if (value == nullptr) return nullptr;
  if (value->is_object()) return &value->as_object();
  fail(path(name), fmt::format("'{}' must be an object, found {}.", path(name), describe_kind(*value)));
  return nullptr;
}

void FieldReader::refuse(const char* name, std::string_view why) {
  if (raw(name) != nullptr)
    fail(path(name), fmt::format("'{}' is not supported: {}.", path(name), why), "unsupported_parameter");
}

void FieldReader::refuse_unless_false(const char* name, std::string_view why) {
  const json::value* value = raw(name);
  if (value != nullptr && value->is_bool() && !value->as_bool()) return;
  refuse(name, why);
}

size_t FieldReader::unknown_fields() const {
  size_t n = 0;
  for (const auto& field : object_)
    n += known_.contains(std::string_view(field.key().data(), field.key().size())) ? 0 : 1;
  return n;
}

}  // namespace assay::serve
