#pragma once
// Strict JSON of a request body, and a reader of an object's fields that remembers the first thing wrong.
#include <boost/json/fwd.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "serve/api_error.h"

namespace assay::serve {

inline constexpr size_t kMaxJsonDepth = 64;
inline constexpr size_t kMaxJsonNodes = 100'000;      // all values but numbers
inline constexpr size_t kMaxJsonNumbers = 1'000'000;  // prompts may be lists of ids

// An object at the top; depth, node counts, duplicate keys, UTF-8 and numbers checked before a tree is built.
Checked<boost::json::object> parse_json_object(std::string_view text);

// Each getter returns nullopt when the field is absent, null, or wrong; when wrong, error() tells.
class FieldReader {
 public:
  explicit FieldReader(const boost::json::object& object, std::string path = "")
      : object_(object), path_(std::move(path)) {}

  std::optional<bool> boolean(const char* name);
  std::optional<int64_t> integer(const char* name, int64_t least, int64_t most);
  std::optional<double> number(const char* name, double least, double most);
  std::optional<std::string> text(const char* name, size_t most_bytes);
  // Any kind of value; null counts as absent.
  const boost::json::value* raw(const char* name);
  const boost::json::array* array(const char* name, size_t most);
  const boost::json::object* object(const char* name);
  // Known, taken and without effect.
  void accept(const char* name) { known_.insert(name); }
  // A field that is refused unless absent, null, or equal to what would have no effect.
  void refuse(const char* name, std::string_view why);
  void refuse_unless_false(const char* name, std::string_view why);

  void fail(std::string param, std::string message, std::string code = "");
  // "a.b": the full path of a field of this object.
  std::string path(std::string_view name) const;

  const std::optional<ApiError>& error() const { return error_; }
  size_t unknown_fields() const;

 private:
  const boost::json::object& object_;
  std::string path_;
  std::set<std::string, std::less<>> known_;
  std::optional<ApiError> error_;
};

// "a string", "an array", ...: for messages.
std::string describe_kind(const boost::json::value& value);

}  // namespace assay::serve
