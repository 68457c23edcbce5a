#include "text/jinja/operations.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <cmath>

#include "text/jinja/dict.h"
#include "text/unicode/utf8.h"

namespace assay::text::jinja {

void require_defined(const Value& v) {
  if (v.is_undefined())
    fail(v.is_forbidden() ? FailureKind::security : FailureKind::undefined, v.undefined_message());
}

bool truthy(const Value& v) {
  switch (v.kind()) {
    case Value::Kind::undefined:
    case Value::Kind::none:
      return false;
    case Value::Kind::boolean:
      return v.as_bool();
    case Value::Kind::integer:
      return v.as_int() != 0;
    case Value::Kind::real:
      return v.as_real() != 0;
    case Value::Kind::string:
      return !v.as_string().empty();
    case Value::Kind::list:
    case Value::Kind::dict:
      return v.size() != 0;
    case Value::Kind::object:
      break;
  }
  if (const RangeObject* range = as_range(v)) return range->size() != 0;
  if (const ViewObject* view = as_view(v)) return view->dict.size() != 0;
  return true;
}

std::string_view type_name(const Value& v) {
  switch (v.kind()) {
    case Value::Kind::undefined:
      return "Undefined";
    case Value::Kind::none:
      return "NoneType";
    case Value::Kind::boolean:
      return "bool";
    case Value::Kind::integer:
      return "int";
    case Value::Kind::real:
      return "float";
    case Value::Kind::string:
      return "str";
    case Value::Kind::list:
      return v.is_tuple() ? "tuple" : "list";
    case Value::Kind::dict:
      return "dict";
    case Value::Kind::object:
      break;
  }
  switch (v.object()->type) {
    case Object::Type::big:
      return "int";
    case Object::Type::range:
      return "range";
    case Object::Type::view: {
      const auto part = as_view(v)->part;
      return part == ViewObject::Part::keys     ? "dict_keys"
             : part == ViewObject::Part::values ? "dict_values"
                                                : "dict_items";
    }
    case Object::Type::generator:
      return "generator";
    case Object::Type::space:
      return "Namespace";
    case Object::Type::callable:
      return "function";
    case Object::Type::loop:
      return "LoopContext";
    case Object::Type::cycler:
      return "Cycler";
  }
  return "object";
}

bool equals(const Value& a, const Value& b) {
  spend(1);
  if (is_number(a) && is_number(b)) return compare(a, b) == 0;
  if (a.is_string() && b.is_string()) return a.as_string().view() == b.as_string().view();
  if (a.is_sequence() && b.is_sequence()) {
    if (a.is_tuple() != b.is_tuple()) return false;
    if (&a.items() == &b.items()) return true;
    return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), equals);
  }
  if (a.is_dict() && b.is_dict()) {
    if (a.size() != b.size()) return false;
    if (&a.entries() == &b.entries()) return true;
    return std::all_of(a.entries().begin(), a.entries().end(), [&](const auto& entry) {
      const Value* other = b.find_key(entry.first);
      return other != nullptr && equals(entry.second, *other);
    });
  }
  if (a.is_object() && b.is_object()) {
    if (as_range(a) && as_range(b)) return equals(Value::list(iterate(a)), Value::list(iterate(b)));
    return a.object() == b.object();
  }
  return a.kind() == b.kind() && (a.is_none() || a.is_undefined());
}

std::partial_ordering compare(const Value& a, const Value& b, std::string_view op) {
  spend(1);
  require_defined(a);
  require_defined(b);
  if (is_number(a) && is_number(b)) {
    if (a.is_int() && b.is_int()) return a.as_int() <=> b.as_int();
    if (a.is_real() || b.is_real()) {
      const double x = to_double(a), y = to_double(b);
      if (x == y && std::fabs(x) > 9e15 && !(a.is_real() && b.is_real()) && std::isfinite(x))
        return to_big(a).compare(to_big(b)) <=> 0;
      return x <=> y;
    }
    return to_big(a).compare(to_big(b)) <=> 0;
  }
  if (a.is_string() && b.is_string()) {
    // UTF-8 keeps the order of code points.
    const int order = a.as_string().view().compare(b.as_string().view());
    return order <=> 0;
  }
  if (a.is_sequence() && b.is_sequence() && a.is_tuple() == b.is_tuple()) {
    for (size_t i = 0; i < a.size() && i < b.size(); ++i)
      if (!equals(a.items()[i], b.items()[i])) return compare(a.items()[i], b.items()[i], op);
    return a.size() <=> b.size();
  }
  type_error(fmt::format("'{}' is not possible between {} and {}", op, type_name(a), type_name(b)));
}

bool contains(const Value& container, const Value& item) {
  if (container.is_string()) {
    if (!item.is_string())
      type_error(fmt::format("'in <string>' needs a string on its left, not {}", type_name(item)));
    const std::string_view text = container.as_string().view(), part = item.as_string().view();
    spend(static_cast<int64_t>(text.size() / 4096));
    return part.empty() || memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
  }
  if (container.is_dict()) {
    hash_key(item);
    return container.find_key(item) != nullptr;
  }
  if (container.is_sequence()) {
    return std::any_of(container.items().begin(), container.items().end(),
                       [&](const Value& v) { return equals(v, item); });
  }
  if (!is_iterable(container))
    type_error(fmt::format("a value of type {} contains nothing", type_name(container)));
  const std::vector<Value> items = iterate(container);
  return std::any_of(items.begin(), items.end(), [&](const Value& v) { return equals(v, item); });
}

bool is_iterable(const Value& v) {
  if (v.is_object()) return as_range(v) || as_view(v) || as_generator(v) || as_loop(v);
  return v.is_undefined() || v.is_string() || v.is_sequence() || v.is_dict();
}

std::vector<Value> iterate(const Value& v) {
  std::vector<Value> out;
  if (v.is_undefined()) {
    if (v.is_forbidden()) require_defined(v);
    return out;
  }
  if (v.is_string()) return characters(v.as_string());
  if (v.is_sequence()) {
    out = v.items();
  } else if (v.is_dict()) {
    for (const auto& entry : v.entries()) out.push_back(entry.first);
  } else if (const RangeObject* range = as_range(v)) {
    for (int64_t i = 0; i < range->size(); ++i) out.emplace_back(range->at(i));
  } else if (const ViewObject* view = as_view(v)) {
    for (const auto& [key, value] : view->dict.entries())
      out.push_back(view->part == ViewObject::Part::keys     ? key
                    : view->part == ViewObject::Part::values ? value
                                                             : Value::tuple({key, value}));
  } else if (const GeneratorObject* generator = as_generator(v)) {
    out = generator->take();
  } else {
    type_error(fmt::format("a value of type {} cannot be iterated over", type_name(v)));
  }
  spend_values(out.size());
  return out;
}

int64_t length(const Value& v) {
  if (v.is_undefined()) {
    if (v.is_forbidden()) require_defined(v);
    return 0;
  }
  if (v.is_string()) return static_cast<int64_t>(count_code_points(v.as_string().view()));
  if (v.is_sequence() || v.is_dict()) return static_cast<int64_t>(v.size());
  if (const RangeObject* range = as_range(v)) return range->size();
  if (const ViewObject* view = as_view(v)) return static_cast<int64_t>(view->dict.size());
  if (const LoopObject* loop = as_loop(v); loop && loop->items)
    return static_cast<int64_t>(loop->items->size());
  type_error(fmt::format("a value of type {} has no length", type_name(v)));
}

size_t byte_offset(std::string_view text, int64_t index) {
  size_t pos = 0;
  for (; index > 0 && pos < text.size(); --index) pos += decode_at(text, pos).bytes;
  return pos;
}

std::vector<Value> characters(const String& text) {
  spend_values(text.size());
  std::vector<Value> out;
  for (size_t pos = 0; pos < text.size();) {
    const size_t bytes = decode_at(text.view(), pos).bytes;
    out.emplace_back(text.substr(pos, bytes));
    pos += bytes;
  }
  return out;
}

std::string hash_key(const Value& key) {
  spend(1);
  if (key.is_string()) return "s" + key.as_string().bytes();
  if (key.is_none()) return "0";
  if (is_number(key)) {
    if (key.is_real()) {
      const double real = key.as_real();
      if (std::isfinite(real) && real == std::floor(real)) return "n" + to_big(key).str();
      return "r" + real_repr(real);
    }
    return "n" + to_big(key).str();
  }
  if (key.is_tuple()) {
    std::string out = "(";
    for (const Value& item : key.items()) {
      const std::string part = hash_key(item);
      out += fmt::format("{}:{}", part.size(), part);
      spend_bytes(out.size());
    }
    return out;
  }
  if (key.is_object()) return fmt::format("o{}", static_cast<const void*>(key.object().get()));
  if (key.is_undefined()) return "u";
  type_error(fmt::format("a {} cannot be a key or be looked up", type_name(key)));
}

}  // namespace assay::text::jinja
