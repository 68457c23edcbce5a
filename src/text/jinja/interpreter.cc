#include "text/jinja/interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/library.h"

namespace assay::text::jinja {
namespace {

constexpr int kMaxCalls = 64;  // macros and recursive loops inside each other

// One more macro inside another; gives scope and output back.
class CallFrame {
 public:
  CallFrame(int* calls, std::shared_ptr<Scope>* scope, std::shared_ptr<Scope> inside, String** out,
            String* to)
      : calls_(calls), scope_(scope), out_(out), before_scope_(*scope), before_out_(*out) {
    if (*calls_ >= kMaxCalls)
      fail(FailureKind::budget, fmt::format("macros call each other more than {} deep", kMaxCalls));
    ++*calls_;
    *scope_ = std::move(inside);
    *out_ = to;
  }
  ~CallFrame() {
    --*calls_;
    *scope_ = std::move(before_scope_);
    *out_ = before_out_;
  }
  CallFrame(const CallFrame&) = delete;
  CallFrame& operator=(const CallFrame&) = delete;

 private:
  int* calls_;
  std::shared_ptr<Scope>* scope_;
  String** out_;
  std::shared_ptr<Scope> before_scope_;
  String* before_out_;
};

// A new innermost scope for a while.
class InnerScope {
 public:
  explicit InnerScope(std::shared_ptr<Scope>* scope) : scope_(scope), before_(*scope) {
    *scope_ = std::make_shared<Scope>(before_);
  }
  ~InnerScope() { *scope_ = std::move(before_); }
  InnerScope(const InnerScope&) = delete;
  InnerScope& operator=(const InnerScope&) = delete;

 private:
  std::shared_ptr<Scope>* scope_;
  std::shared_ptr<Scope> before_;
};

}  // namespace

const Value* Scope::find_here(NameId name) const {
  for (const auto& [id, value] : variables)
    if (id == name) return &value;
  return nullptr;
}

void Scope::set(NameId name, Value value) {
  for (auto& [id, held] : variables)
    if (id == name) {
      held = std::move(value);
      return;
    }
  variables.emplace_back(name, std::move(value));
}

Interpreter::Interpreter(const Program& program, const Value& context, const RenderOptions& options)
    : program_(program), scope_(std::make_shared<Scope>(nullptr)) {
  for (NameId id = 0; id < program.names.size(); ++id) {
    const std::string& name = program.names[id];
    if (name == "loop") loop_name_ = id;
    if (name == "caller") caller_name_ = id;
    if (name == "varargs") varargs_name_ = id;
    if (name == "kwargs") kwargs_name_ = id;
    const Value* given = context.find(name);
    Value value = given != nullptr ? *given : find_global(name, options.now);
    if (!value.is_undefined()) scope_->variables.emplace_back(id, std::move(value));
  }
  scope_ = std::make_shared<Scope>(scope_);
}

Interpreter::~Interpreter() {
  // Macros live in the scopes they refer to, and a namespace may hold itself.
  std::vector<std::shared_ptr<Scope>> scopes = std::move(kept_);
  for (const auto& scope : scopes) std::exchange(scope->variables, {});
  for (const auto& space : spaces_) std::exchange(static_cast<const SpaceObject&>(*space).attributes, {});
}

String Interpreter::run() {
  String out;
  out_ = &out;
  block(program_.body);
  return out;
}

void Interpreter::keep_scopes() {
  for (std::shared_ptr<Scope> s = scope_; s != nullptr && !s->kept; s = s->parent) {
    s->kept = true;
    kept_.push_back(s);
  }
}

void Interpreter::print(const Value& v) {
  if (v.is_string())
    out_->append(v.as_string());
  else
    out_->append(to_text(v));
  limit_bytes(out_->size());
}

Interpreter::Flow Interpreter::block(const Block& body) {
  for (const Stmt& stmt : body) {
    try {
      const Flow flow = statement(stmt);
      if (flow != Flow::next) return flow;
    } catch (Failure& failure) {
      if (failure.line == 0) failure.line = stmt.line;
      throw;
    }
  }
  return Flow::next;
}

Interpreter::Flow Interpreter::scoped(const Block& body) {
  InnerScope inner(&scope_);
  return block(body);
}

Interpreter::Flow Interpreter::statement(const Stmt& stmt) {
  Level level(this);
  spend(1);
  switch (stmt.kind) {
    case Stmt::Kind::text:
      print(stmt.text);
      break;
    case Stmt::Kind::print:
      print(evaluate(*stmt.expr));
      break;
    case Stmt::Kind::branch:
      return block(truthy(evaluate(*stmt.expr)) ? stmt.body : stmt.otherwise);
    case Stmt::Kind::loop:
      return loop(stmt, evaluate(*stmt.expr), 1);
    case Stmt::Kind::assign:
      assign(stmt.target, evaluate(*stmt.expr));
      break;
    case Stmt::Kind::assign_block: {
      const Value text = captured(stmt.body);
      assign(stmt.target, stmt.expr == nullptr ? text : filter_text(*stmt.expr, text));
      break;
    }
    case Stmt::Kind::macro:
      scope_->set(stmt.target.name, make_macro(stmt.macro));
      break;
    case Stmt::Kind::call:
      call_block(stmt);
      break;
    case Stmt::Kind::filter:
      print(filter_text(*stmt.expr, captured(stmt.body)));
      break;
    case Stmt::Kind::with:
      return with(stmt);
    case Stmt::Kind::scope:
      return scoped(stmt.body);
    case Stmt::Kind::break_loop:
      return Flow::break_loop;
    case Stmt::Kind::continue_loop:
      return Flow::continue_loop;
  }
  return Flow::next;
}

Value Interpreter::captured(const Block& body) {
  String text;
  String* before = std::exchange(out_, &text);
  try {
    scoped(body);
  } catch (...) {
    out_ = before;
    throw;
  }
  out_ = before;
  spend_bytes(text.size());
  return Value(std::move(text));
}

Interpreter::Flow Interpreter::with(const Stmt& stmt) {
  std::vector<Value> values;
  for (const auto& [target, expr] : stmt.with) values.push_back(evaluate(*expr));
  InnerScope inner(&scope_);
  for (size_t i = 0; i < values.size(); ++i) assign(stmt.with[i].first, values[i]);
  return block(stmt.body);
}

void Interpreter::assign(const Target& target, const Value& value) {
  if (!target.several.empty()) {
    if (!is_iterable(value)) type_error(fmt::format("a {} cannot be unpacked", type_name(value)));
    const std::vector<Value> parts = iterate(value);
    if (parts.size() != target.several.size())
      type_error(
          fmt::format("{} values cannot be unpacked into {} names", parts.size(), target.several.size()));
    for (size_t i = 0; i < parts.size(); ++i) assign(target.several[i], parts[i]);
    return;
  }
  if (target.attribute.empty()) return scope_->set(target.name, value);
  const Value object = lookup(target.name);
  const SpaceObject* space = as_space(object);
  if (space == nullptr)
    type_error(fmt::format("an attribute can be set on a namespace only, not on a {}", type_name(object)));
  if (target.attribute[0] == '_') fail(FailureKind::security, "a namespace attribute cannot begin with _");
  space->set(target.attribute, value);
}

std::vector<Value> Interpreter::filtered(const Stmt& stmt, std::vector<Value> items) {
  if (stmt.condition == nullptr) return items;
  std::vector<Value> out;
  for (Value& item : items) {
    InnerScope inner(&scope_);
    assign(stmt.target, item);
    if (truthy(evaluate(*stmt.condition))) out.push_back(std::move(item));
  }
  return out;
}

Interpreter::Flow Interpreter::loop(const Stmt& stmt, const Value& over, int depth) {
  const std::vector<Value> items = filtered(stmt, iterate(over));
  return iterations(stmt, items, depth);
}

Interpreter::Flow Interpreter::iterations(const Stmt& stmt, const std::vector<Value>& items, int depth) {
  auto state = std::make_shared<LoopObject>();
  state->items = &items;
  state->depth = depth;
  if (stmt.recursive) {
    const std::shared_ptr<Scope> outside = scope_;
    state->again = [this, &stmt, outside, depth](const Arguments& a) {
      if (a.positional.size() != 1) type_error("a recursive loop takes one argument");
      String text;
      CallFrame frame(&calls_, &scope_, outside, &out_, &text);
      loop(stmt, a.positional[0], depth + 1);
      return Value(std::move(text));
    };
  }
  struct End {
    LoopObject* loop;
    ~End() {
      loop->items = nullptr;
      loop->again = nullptr;
    }
  } end{state.get()};
  const Value loop_value{std::shared_ptr<const Object>(state)};
  bool completed = false;  // an iteration ran to its end
  for (; state->index < items.size(); ++state->index) {
    spend(1);
    InnerScope inner(&scope_);
    if (loop_name_) scope_->set(*loop_name_, loop_value);
    assign(stmt.target, items[state->index]);
    const Flow flow = block(stmt.body);
    if (flow == Flow::break_loop) break;
    completed |= flow == Flow::next;
  }
  if (!completed && !stmt.otherwise.empty()) return scoped(stmt.otherwise);
  return Flow::next;
}

Value Interpreter::make_macro(std::shared_ptr<Macro> macro) {
  keep_scopes();
  std::string name = macro->name;
  return make_function(std::move(name), [this, macro = std::move(macro), scope = scope_](const Arguments& a) {
    return call_macro(*macro, scope, a);
  });
}

Value Interpreter::call_macro(const Macro& macro, const std::shared_ptr<Scope>& defined_in,
                              const Arguments& arguments) {
  String text;
  CallFrame frame(&calls_, &scope_, std::make_shared<Scope>(defined_in), &out_, &text);
  bind(macro, arguments);
  block(macro.body);
  spend_bytes(text.size());
  return Value(std::move(text));
}

void Interpreter::bind(const Macro& macro, const Arguments& a) {
  const size_t count = macro.parameters.size(), first_default = count - macro.defaults.size();
  if (a.positional.size() > count && !macro.takes_varargs)
    type_error(fmt::format("macro '{}' takes at most {} arguments", macro.name, count));
  std::vector<std::pair<Value, Value>> extra;
  Value caller = Value::undefined("there is no caller");
  std::vector<std::optional<Value>> given(count);
  for (size_t i = 0; i < std::min(count, a.positional.size()); ++i) given[i] = a.positional[i];
  for (const auto& [key, value] : a.named) {
    const auto at = std::find_if(macro.parameters.begin(), macro.parameters.end(),
                                 [&, &wanted = key](NameId id) { return program_.names[id] == wanted; });
    if (at != macro.parameters.end()) {
      auto& slot = given[static_cast<size_t>(at - macro.parameters.begin())];
      if (slot) type_error(fmt::format("macro '{}' is given '{}' twice", macro.name, key));
      slot = value;
    } else if (key == "caller" && macro.takes_caller) {
      caller = value;
    } else if (macro.takes_kwargs) {
      extra.emplace_back(Value::trusted(key), value);
    } else {
      type_error(fmt::format("macro '{}' has no parameter '{}'", macro.name, key));
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (given[i])
      scope_->set(macro.parameters[i], *given[i]);
    else if (i >= first_default)
      scope_->set(macro.parameters[i], evaluate(*macro.defaults[i - first_default]));
    else
      scope_->set(macro.parameters[i], Value::undefined(fmt::format("parameter '{}' was not provided",
                                                                    program_.names[macro.parameters[i]])));
  }
  if (macro.takes_caller && caller_name_) scope_->set(*caller_name_, std::move(caller));
  if (macro.takes_kwargs && kwargs_name_) scope_->set(*kwargs_name_, Value::dict(std::move(extra)));
  if (macro.takes_varargs && varargs_name_) {
    std::vector<Value> rest;
    if (a.positional.size() > count)
      rest.assign(a.positional.begin() + static_cast<ptrdiff_t>(count), a.positional.end());
    scope_->set(*varargs_name_, Value::tuple(std::move(rest)));
  }
}

void Interpreter::call_block(const Stmt& stmt) {
  const Value caller = make_macro(stmt.macro);
  print(call(*stmt.expr, &caller));
}

Value Interpreter::lookup(NameId name) const {
  for (const Scope* scope = scope_.get(); scope != nullptr; scope = scope->parent.get())
    if (const Value* found = scope->find_here(name)) return *found;
  return Value::undefined(fmt::format("'{}' is undefined", program_.names[name]));
}

}  // namespace assay::text::jinja
