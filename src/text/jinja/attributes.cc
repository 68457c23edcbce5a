// x.name, x[key], x[a:b] and the methods of list and dict, as a sandboxed Jinja has them.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "text/jinja/library.h"
#include "text/unicode/utf8.h"

namespace assay::text::jinja {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Methods that change their object: the sandbox does not give them out.
bool is_forbidden_method(const Value& object, std::string_view name) {
  if (object.is_list())
    return is_one_of(name, {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"});
  if (object.is_dict()) return is_one_of(name, {"clear", "pop", "popitem", "setdefault", "update"});
  return false;
}

// Attributes that every Python object has.
bool is_internal(std::string_view name) {
  return is_one_of(name, {"__class__",        "__init__",    "__doc__",
                          "__dict__",         "__eq__",      "__ne__",
                          "__hash__",         "__repr__",    "__str__",
                          "__new__",          "__reduce__",  "__reduce_ex__",
                          "__getattribute__", "__setattr__", "__delattr__",
                          "__dir__",          "__format__",  "__sizeof__",
                          "__subclasshook__", "__module__",  "__init_subclass__",
                          "__len__",          "__iter__",    "__getitem__",
                          "__contains__",     "__globals__", "__lt__",
                          "__le__",           "__gt__",      "__ge__"});
}

Value missing(const Value& object, std::string_view name) {
  return Value::undefined(fmt::format("a {} has no attribute or item '{}'", type_name(object), name));
}

Value bound_method(const Value& object, std::string_view name) {
  return make_function(std::string(name), [object, name = std::string(name)](const Arguments& arguments) {
    return call_method(object, name, arguments);
  });
}

Value loop_attribute(const LoopObject& loop, std::string_view name) {
  if (loop.items == nullptr) return Value::undefined("the loop is over");
  const auto index = static_cast<int64_t>(loop.index), count = static_cast<int64_t>(loop.items->size());
  if (name == "index") return index + 1;
  if (name == "index0") return index;
  if (name == "revindex") return count - index;
  if (name == "revindex0") return count - index - 1;
  if (name == "first") return index == 0;
  if (name == "last") return index + 1 == count;
  if (name == "length") return count;
  if (name == "depth") return int64_t{loop.depth};
  if (name == "depth0") return int64_t{loop.depth - 1};
  if (name == "previtem")
    return index > 0 ? (*loop.items)[loop.index - 1] : Value::undefined("there is no previous item");
  if (name == "nextitem")
    return index + 1 < count ? (*loop.items)[loop.index + 1] : Value::undefined("there is no next item");
  return Value::undefined(fmt::format("a loop has no attribute '{}'", name));
}

Value dict_from_keys(const Arguments& a) {
  const Value* keys = a.get(0, "iterable");
  const Value* value = a.get(1, "value");
  if (keys == nullptr) type_error("fromkeys needs keys");
  std::vector<std::pair<Value, Value>> entries;
  for (Value& key : iterate(*keys)) entries.emplace_back(std::move(key), value == nullptr ? Value() : *value);
  return Value::dict(std::move(entries));
}

// The attribute alone; undefined if there is none.
bool find_attribute(const Value& object, std::string_view name, Value* out) {
  if (is_internal(name) || is_forbidden_method(object, name)) {
    *out =
        Value::forbidden(fmt::format("the sandbox does not give out '{}' of a {}", name, type_name(object)));
    return true;
  }
  if (has_method(object, name)) {
    *out = bound_method(object, name);
    return true;
  }
  if (const SpaceObject* space = as_space(object)) {
    const Value* held = space->find(name);
    if (held != nullptr) *out = *held;
    return held != nullptr;
  }
  if (const LoopObject* loop = as_loop(object)) {
    *out = loop_attribute(*loop, name);
    return true;
  }
  if (const CyclerObject* cycler = as_cycler(object); cycler && name == "current") {
    *out = cycler->items[cycler->index];
    return true;
  }
  if (const CallableObject* type = as_callable(object); type && type->name == "dict" && name == "fromkeys") {
    *out = make_function("fromkeys", dict_from_keys);
    return true;
  }
  if (is_number(object) && is_one_of(name, {"real", "numerator"})) {
    *out = plus(object);
    return true;
  }
  if (is_number(object) && is_one_of(name, {"imag", "denominator"})) {
    *out = Value(name == "imag" ? 0 : 1);
    return true;
  }
  return false;
}

// The item alone, for a key that is no attribute name.
bool find_item(const Value& object, const Value& key, Value* out) {
  if (object.is_dict()) {
    if (key.is_sequence() && !key.is_tuple()) return false;
    if (key.is_dict()) return false;
    const Value* held = object.find_key(key);
    if (held != nullptr) *out = *held;
    return held != nullptr;
  }
  if (const SpaceObject* space = as_space(object)) {
    const Value* held = key.is_string() ? space->find(key.as_string().view()) : nullptr;
    if (held != nullptr) *out = *held;
    return held != nullptr;
  }
  if (!is_integer(key)) return false;
  int64_t index = to_index(key);
  const RangeObject* range = as_range(object);
  if (!object.is_sequence() && !object.is_string() && !range) return false;
  const int64_t count = length(object);
  if (index < 0) index += count;
  if (index < 0 || index >= count) return false;
  if (range) {
    *out = Value(range->at(index));
  } else if (object.is_sequence()) {
    *out = object.items()[static_cast<size_t>(index)];
  } else {
    const String& text = object.as_string();
    const size_t begin = byte_offset(text.view(), index);
    *out = Value(text.substr(begin, decode_at(text.view(), begin).bytes));
  }
  return true;
}

Value call_list_method(const Value& list, std::string_view name, const Arguments& a) {
  if (name == "copy") return list;
  const Value* wanted = a.get(0, "value");
  if (wanted == nullptr) type_error(fmt::format("{} needs an argument", name));
  int64_t count = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!equals(list.items()[i], *wanted)) continue;
    if (name == "index") return static_cast<int64_t>(i);
    ++count;
  }
  if (name == "index") type_error("the list does not hold that");
  return count;
}

Value call_dict_method(const Value& dict, std::string_view name, const Arguments& a) {
  const auto view = [&](ViewObject::Part part) {
    return Value(std::make_shared<const ViewObject>(dict, part));
  };
  if (name == "items") return view(ViewObject::Part::items);
  if (name == "keys") return view(ViewObject::Part::keys);
  if (name == "values") return view(ViewObject::Part::values);
  if (name == "copy") return dict;
  const Value* key = a.get(0, "key");
  if (key == nullptr) type_error("get needs a key");
  const Value* held = dict.find_key(*key);
  const Value* otherwise = a.get(1, "default");
  return held != nullptr ? *held : otherwise != nullptr ? *otherwise : Value();
}

Value call_loop_method(const LoopObject& loop, std::string_view name, const Arguments& a) {
  if (name == "cycle") {
    if (a.positional.empty()) type_error("cycle needs values");
    return a.positional[loop.index % a.positional.size()];
  }
  const bool same = loop.has_changed && equals(Value::tuple(loop.last_changed), Value::tuple(a.positional));
  loop.last_changed = a.positional;
  loop.has_changed = true;
  return !same;
}

Value call_cycler_method(const CyclerObject& cycler, std::string_view name) {
  if (name == "reset") return cycler.index = 0, Value();
  const Value out = cycler.items[cycler.index];
  cycler.index = (cycler.index + 1) % cycler.items.size();
  return out;
}

}  // namespace

bool has_method(const Value& object, std::string_view name) {
  if (object.is_string()) return has_string_method(name);
  if (object.is_list()) return is_one_of(name, {"index", "count", "copy"});
  if (object.is_tuple()) return is_one_of(name, {"index", "count"});
  if (object.is_dict()) return is_one_of(name, {"items", "keys", "values", "get", "copy"});
  if (as_loop(object)) return is_one_of(name, {"cycle", "changed"});
  if (as_cycler(object)) return is_one_of(name, {"next", "reset"});
  if (object.is_real()) return name == "is_integer";
  return false;
}

Value call_method(const Value& object, std::string_view name, const Arguments& arguments) {
  if (object.is_string()) return call_string_method(object.as_string(), name, arguments);
  if (object.is_sequence()) return call_list_method(object, name, arguments);
  if (object.is_dict()) return call_dict_method(object, name, arguments);
  if (const LoopObject* loop = as_loop(object)) return call_loop_method(*loop, name, arguments);
  if (const CyclerObject* cycler = as_cycler(object)) return call_cycler_method(*cycler, name);
  return object.as_real() == static_cast<double>(static_cast<int64_t>(object.as_real()));
}

Value get_attribute(const Value& object, std::string_view name) {
  require_defined(object);
  Value out;
  if (find_attribute(object, name, &out)) return out;
  if (find_item(object, Value::trusted(std::string(name)), &out)) return out;
  return missing(object, name);
}

Value get_item(const Value& object, const Value& key) {
  require_defined(object);
  Value out;
  if (find_item(object, key, &out)) return out;
  if (key.is_string() && find_attribute(object, key.as_string().view(), &out)) return out;
  return missing(object, key.is_string() ? key.as_string().bytes() : repr(key).bytes());
}

Value get_slice(const Value& object, const Value& begin, const Value& end, const Value& step) {
  require_defined(object);
  if (!object.is_sequence() && !object.is_string() && !as_range(object)) return missing(object, "a slice");
  for (const Value* bound : {&begin, &end, &step})
    if (!bound->is_none() && !is_integer(*bound)) {
      if (!bound->is_undefined()) type_error("slice bounds must be integers or none");
      type_error("a slice bound is undefined");
    }
  const int64_t stride = step.is_none() ? 1 : to_index(step);
  if (stride == 0) type_error("a slice step of zero");
  const int64_t count = length(object);
  const auto clamp = [&](const Value& v, int64_t otherwise) {
    if (v.is_none()) return otherwise;
    int64_t i = to_index(v);
    if (i < 0) i = i < -count ? -1 : i + count;
    return stride > 0 ? std::clamp<int64_t>(i, 0, count) : std::clamp<int64_t>(i, -1, count - 1);
  };
  const int64_t first = clamp(begin, stride > 0 ? 0 : count - 1), last = clamp(end, stride > 0 ? count : -1);
  if (object.is_string() && stride == 1) {
    const String& text = object.as_string();
    if (first >= last) return Value::trusted("");
    const size_t from = byte_offset(text.view(), first);
    const size_t to = from + byte_offset(text.view().substr(from), last - first);
    spend_bytes(to - from);
    return Value(text.substr(from, to - from));
  }
  if (const RangeObject* range = as_range(object))
    return Value(std::make_shared<const RangeObject>(
        range->at(first), range->at(last), range->step * std::clamp<int64_t>(stride, -200'000, 200'000)));
  const std::vector<Value> all = iterate(object);
  std::vector<Value> out;
  const int64_t far = std::clamp<int64_t>(stride, -count - 1, count + 1);
  for (int64_t i = first; far > 0 ? i < last : i > last; i += far) out.push_back(all[static_cast<size_t>(i)]);
  if (object.is_tuple()) return Value::tuple(std::move(out));
  if (!object.is_string()) return Value::list(std::move(out));
  String text;
  for (const Value& c : out) text.append(c.as_string());
  return Value(std::move(text));
}

}  // namespace assay::text::jinja
