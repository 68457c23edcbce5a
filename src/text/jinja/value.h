#pragma once
// Value: what a chat template computes with. Values are immutable and cheap to copy (shared); only a
// namespace can change, and only from inside a template. Nesting is bounded (kMaxDepth), so recursion over a
// value is safe.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "text/jinja/string.h"

namespace assay::text::jinja {

constexpr int kMaxDepth = 512;  // levels of lists and dicts inside each other

class Value;
struct Object;  // integers beyond 64 bits, ranges, views, generators, namespaces, callables: jinja/object.h
struct ListRep;
struct DictRep;

class Value {
 public:
  enum class Kind : uint8_t { undefined, none, boolean, integer, real, string, list, dict, object };

  Value();  // none
  Value(bool value) : data_(value) {}
  Value(int value) : data_(int64_t{value}) {}
  Value(int64_t value) : data_(value) {}
  Value(double value) : data_(value) {}
  Value(String value);
  // From outside the engine: text of the request.
  Value(std::string value);
  Value(std::string_view value);
  Value(const char* value);
  Value(std::shared_ptr<const Object> object) : data_(std::move(object)) {}

  // `what` is the rest of an error message: "'x' is undefined".
  static Value undefined(std::string what = "value is undefined");
  // A known attribute that the sandbox does not give out: undefined, but calling it is a security error.
  static Value forbidden(std::string what);
  static Value list(std::vector<Value> items = {});
  static Value tuple(std::vector<Value> items = {});
  static Value dict(std::vector<std::pair<Value, Value>> entries = {});
  static Value trusted(std::string text);

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is_undefined() const { return kind() == Kind::undefined; }
  bool is_none() const { return kind() == Kind::none; }
  bool is_bool() const { return kind() == Kind::boolean; }
  bool is_int() const { return kind() == Kind::integer; }
  bool is_real() const { return kind() == Kind::real; }
  bool is_string() const { return kind() == Kind::string; }
  bool is_list() const;  // a list, not a tuple
  bool is_tuple() const;
  bool is_sequence() const { return kind() == Kind::list; }  // list or tuple
  bool is_dict() const { return kind() == Kind::dict; }
  bool is_object() const { return kind() == Kind::object; }

  // Accessors: the kind must fit.
  bool as_bool() const { return std::get<bool>(data_); }
  int64_t as_int() const { return std::get<int64_t>(data_); }
  double as_real() const { return std::get<double>(data_); }
  const String& as_string() const { return *std::get<5>(data_); }
  const std::vector<Value>& items() const;                      // list or tuple
  const std::vector<std::pair<Value, Value>>& entries() const;  // dict, in insertion order
  const std::shared_ptr<const Object>& object() const { return std::get<8>(data_); }
  const std::string& undefined_message() const;
  bool is_forbidden() const;

  // Dict: the value at `key`, or null. Number of elements of a list or dict, 0 for anything else.
  const Value* find(std::string_view key) const;
  const Value* find_key(const Value& key) const;
  size_t size() const;

  // Builders for code outside the engine; copy on write. set() turns none into a dict, append() into a list.
  void set(std::string_view key, Value value);
  void erase(std::string_view key);
  void append(Value value);

  // How deep lists and dicts are nested: 0 for a scalar.
  int depth() const;

 private:
  struct Undefined {
    std::shared_ptr<const std::string> what;
    bool forbidden = false;
  };
  std::variant<Undefined, std::monostate, bool, int64_t, double, std::shared_ptr<const String>,
               std::shared_ptr<const ListRep>, std::shared_ptr<const DictRep>, std::shared_ptr<const Object>>
      data_;
};

// Parses JSON text; all strings are user text. Integers keep every digit. Refuses nesting deeper than 256.
Result<Value> value_from_json(std::string_view json);

struct JsonStyle {
  int indent = -1;          // spaces a level; -1 for one line
  std::string indent_text;  // used instead of `indent` spaces when not empty
  std::string item = ", ";  // after an element (with an indent: "," unless set)
  std::string key = ": ";   // after a key
  bool ensure_ascii = false;
  bool sort_keys = false;
};
// The text of Python's json.dumps. A value with no JSON form (range, namespace, undefined) is an error.
Result<String> to_json_string(const Value& value, const JsonStyle& style = {});
Result<std::string> to_json(const Value& value, const JsonStyle& style = {});

}  // namespace assay::text::jinja
