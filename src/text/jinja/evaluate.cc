// Expressions.
#include <fmt/format.h>

#include "text/jinja/interpreter.h"
#include "text/jinja/library.h"

namespace assay::text::jinja {

Value Interpreter::evaluate(const Expr& e) {
  const Level level(this);
  spend(1);
  switch (e.kind) {
    case Expr::Kind::constant:
      return e.value;
    case Expr::Kind::name:
      return lookup(e.name);
    case Expr::Kind::list:
    case Expr::Kind::tuple:
    case Expr::Kind::dict:
      return sequence(e);
    case Expr::Kind::negate:
      return negate(evaluate(*e.parts[0]));
    case Expr::Kind::plus:
      return plus(evaluate(*e.parts[0]));
    case Expr::Kind::negation:
      return !truthy(evaluate(*e.parts[0]));
    case Expr::Kind::arithmetic: {
      const Value left = evaluate(*e.parts[0]);
      return arithmetic(e.text, left, evaluate(*e.parts[1]));
    }
    case Expr::Kind::concat:
      return concat(e);
    case Expr::Kind::compare:
      return comparison(e);
    case Expr::Kind::logic_and: {
      Value left = evaluate(*e.parts[0]);
      return truthy(left) ? evaluate(*e.parts[1]) : left;
    }
    case Expr::Kind::logic_or: {
      Value left = evaluate(*e.parts[0]);
      return truthy(left) ? left : evaluate(*e.parts[1]);
    }
    case Expr::Kind::condition:
      if (truthy(evaluate(*e.parts[0]))) return evaluate(*e.parts[1]);
      return e.parts[2] ? evaluate(*e.parts[2]) : Value::undefined("an inline if without else is false");
    case Expr::Kind::attribute:
      return get_attribute(evaluate(*e.parts[0]), e.text);
    case Expr::Kind::item: {
      const Value object = evaluate(*e.parts[0]);
      return get_item(object, evaluate(*e.parts[1]));
    }
    case Expr::Kind::slice:
      return slice(e);
    case Expr::Kind::call:
      return call(e);
    case Expr::Kind::filter:
      return filter(e, nullptr);
    case Expr::Kind::test:
      return test(e);
  }
  return {};
}

Value Interpreter::sequence(const Expr& e) {
  if (e.kind == Expr::Kind::dict) {
    std::vector<std::pair<Value, Value>> entries;
    for (size_t i = 0; i + 1 < e.parts.size(); i += 2) {
      Value key = evaluate(*e.parts[i]);
      entries.emplace_back(std::move(key), evaluate(*e.parts[i + 1]));
    }
    return Value::dict(std::move(entries));
  }
  std::vector<Value> items;
  for (const ExprPtr& part : e.parts) items.push_back(evaluate(*part));
  return e.kind == Expr::Kind::list ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

Value Interpreter::concat(const Expr& e) {
  String out;
  for (const ExprPtr& part : e.parts) {
    const Value v = evaluate(*part);
    out.append(v.is_string() ? v.as_string() : to_text(v));
    limit_bytes(out.size());
  }
  spend_bytes(out.size());
  return Value(std::move(out));
}

Value Interpreter::comparison(const Expr& e) {
  Value left = evaluate(*e.parts[0]);
  for (size_t i = 0; i < e.ops.size(); ++i) {
    Value right = evaluate(*e.parts[i + 1]);
    const std::string& op = e.ops[i];
    const bool holds = op == "=="       ? equals(left, right)
                       : op == "!="     ? !equals(left, right)
                       : op == "in"     ? contains(right, left)
                       : op == "not in" ? !contains(right, left)
                       : op == "<"      ? compare(left, right, op) < 0
                       : op == "<="     ? compare(left, right, op) <= 0
                       : op == ">"      ? compare(left, right, op) > 0
                                        : compare(left, right, op) >= 0;
    if (!holds) return false;
    left = std::move(right);
  }
  return true;
}

Value Interpreter::slice(const Expr& e) {
  const Value object = evaluate(*e.parts[0]);
  Value bounds[3];
  for (size_t i = 0; i < 3; ++i)
    if (e.parts[i + 1]) bounds[i] = evaluate(*e.parts[i + 1]);
  return get_slice(object, bounds[0], bounds[1], bounds[2]);
}

Arguments Interpreter::arguments(const CallArguments& a) {
  Arguments out;
  for (const ExprPtr& e : a.positional) out.positional.push_back(evaluate(*e));
  if (a.star)
    for (Value& v : iterate(evaluate(*a.star))) out.positional.push_back(std::move(v));
  for (const auto& [name, e] : a.named) out.named.emplace_back(name, evaluate(*e));
  if (a.double_star) {
    const Value more = evaluate(*a.double_star);
    if (!more.is_dict()) type_error("** needs a dict");
    for (const auto& [key, value] : more.entries()) {
      if (!key.is_string()) type_error("** needs names as keys");
      out.named.emplace_back(key.as_string().bytes(), value);
    }
  }
  return out;
}

Value Interpreter::call(const Expr& e, const Value* caller) {
  const Expr& callee = *e.parts[0];
  // A method of a plain value needs no object of its own.
  if (callee.kind == Expr::Kind::attribute) {
    const Value object = evaluate(*callee.parts[0]);
    require_defined(object);
    if (has_method(object, callee.text)) return call_method(object, callee.text, arguments(e.arguments));
    return call_value(get_attribute(object, callee.text), arguments(e.arguments));
  }
  const Value function = evaluate(callee);
  require_defined(function);
  Arguments args = arguments(e.arguments);
  if (caller != nullptr) args.named.emplace_back("caller", *caller);
  return call_value(function, args);
}

Value Interpreter::call_value(const Value& callee, const Arguments& args) {
  require_defined(callee);
  if (const CallableObject* function = as_callable(callee)) {
    Value out = function->body(args);
    if (as_space(out)) spaces_.push_back(out.object());
    return out;
  }
  if (const LoopObject* loop = as_loop(callee)) {
    if (!loop->again) type_error("only a loop marked recursive can be called");
    const CallableObject::Body again = loop->again;
    return again(args);
  }
  type_error(fmt::format("a {} cannot be called", type_name(callee)));
}

Value Interpreter::filter(const Expr& e, const Value* input) {
  const Value subject = e.parts[0] ? evaluate(*e.parts[0]) : input != nullptr ? *input : Value();
  const Arguments args = arguments(e.arguments);
  if (subject.is_forbidden()) require_defined(subject);
  return need_filter(e.text)(subject, args);
}

Value Interpreter::filter_text(const Expr& e, const Value& text) {
  if (e.parts[0] == nullptr) return filter(e, &text);
  const Value inner = filter_text(*e.parts[0], text);
  return need_filter(e.text)(inner, arguments(e.arguments));
}

Value Interpreter::test(const Expr& e) {
  const Value subject = evaluate(*e.parts[0]);
  return need_test(e.text)(subject, arguments(e.arguments));
}

}  // namespace assay::text::jinja
