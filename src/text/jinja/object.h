#pragma once
// What a Value can be beyond JSON's kinds. Private to text/jinja.
#include <boost/multiprecision/cpp_int.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "text/jinja/value.h"

namespace assay::text::jinja {

using BigInt = boost::multiprecision::cpp_int;

struct ListRep {
  std::vector<Value> items;
  bool tuple = false;
  int depth = 1;
};

struct Object {
  enum class Type { big, range, view, generator, space, callable, loop, cycler };
  explicit Object(Type t) : type(t) {}
  virtual ~Object() = default;
  const Type type;
};

struct BigObject : Object {  // never fits int64_t
  explicit BigObject(BigInt v) : Object(Type::big), value(std::move(v)) {}
  BigInt value;
};

struct RangeObject : Object {
  RangeObject(int64_t b, int64_t e, int64_t s) : Object(Type::range), begin(b), end(e), step(s) {}
  int64_t size() const;
  int64_t at(int64_t index) const { return begin + index * step; }
  int64_t begin, end, step;
};

struct ViewObject : Object {  // dict.keys(), values(), items()
  enum class Part { keys, values, items };
  ViewObject(Value d, Part p) : Object(Type::view), dict(std::move(d)), part(p) {}
  Value dict;
  Part part;
};

// The result of map, select, ...: can be walked once. Worked out beforehand; nobody can tell.
struct GeneratorObject : Object {
  explicit GeneratorObject(std::vector<Value> v) : Object(Type::generator), items(std::move(v)) {}
  std::vector<Value> take() const { return std::exchange(items, {}); }
  mutable std::vector<Value> items;
};

// namespace(...): the one thing a template can change. The renderer clears all of them in the end (cycles).
struct SpaceObject : Object {
  SpaceObject() : Object(Type::space) {}
  mutable std::vector<std::pair<std::string, Value>> attributes;
  const Value* find(std::string_view name) const;
  void set(std::string_view name, Value value) const;
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  size_t size() const { return positional.size() + named.size(); }
  // Positional number `index` or the one named `name`; null if absent.
  const Value* get(size_t index, std::string_view name) const;
  bool get_flag(size_t index, std::string_view name, bool otherwise) const;
  // Fails unless there are at most `most` positional ones and every named one is in `names`.
  void check(std::string_view function, size_t most, std::initializer_list<std::string_view> names) const;
};

struct CallableObject : Object {
  using Body = std::function<Value(const Arguments&)>;
  CallableObject(std::string n, Body b) : Object(Type::callable), name(std::move(n)), body(std::move(b)) {}
  std::string name;
  Body body;
};

struct LoopObject : Object {
  LoopObject() : Object(Type::loop) {}
  const std::vector<Value>* items = nullptr;  // null once the loop is over
  mutable size_t index = 0;
  int depth = 0;
  mutable std::vector<Value> last_changed;  // the arguments of the last changed()
  mutable bool has_changed = false;
  CallableObject::Body again;  // recursive loops
};

struct CyclerObject : Object {
  explicit CyclerObject(std::vector<Value> v) : Object(Type::cycler), items(std::move(v)) {}
  std::vector<Value> items;
  mutable size_t index = 0;
};

// The object as T, or null.
template <class T>
const T* object_as(const Value& value, Object::Type type) {
  if (!value.is_object() || value.object()->type != type) return nullptr;
  return static_cast<const T*>(value.object().get());
}
inline const SpaceObject* as_space(const Value& v) {
  return object_as<SpaceObject>(v, Object::Type::space);
}
inline const RangeObject* as_range(const Value& v) {
  return object_as<RangeObject>(v, Object::Type::range);
}
inline const ViewObject* as_view(const Value& v) {
  return object_as<ViewObject>(v, Object::Type::view);
}
inline const BigObject* as_big(const Value& v) {
  return object_as<BigObject>(v, Object::Type::big);
}
inline const LoopObject* as_loop(const Value& v) {
  return object_as<LoopObject>(v, Object::Type::loop);
}
inline const CyclerObject* as_cycler(const Value& v) {
  return object_as<CyclerObject>(v, Object::Type::cycler);
}
inline const GeneratorObject* as_generator(const Value& v) {
  return object_as<GeneratorObject>(v, Object::Type::generator);
}
inline const CallableObject* as_callable(const Value& v) {
  return object_as<CallableObject>(v, Object::Type::callable);
}

Value make_function(std::string name, CallableObject::Body body);
Value make_generator(std::vector<Value> items);

}  // namespace assay::text::jinja
