#pragma once
// Interpreter: walks the tree of one template once. Made for one render and thrown away.
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/object.h"
#include "text/jinja/template.h"

namespace assay::text::jinja {

// Variables of a block; inner blocks look outwards. Setting always happens in the innermost one.
struct Scope {
  explicit Scope(std::shared_ptr<Scope> p) : parent(std::move(p)) {}
  std::shared_ptr<Scope> parent;
  std::vector<std::pair<NameId, Value>> variables;
  bool kept = false;  // a macro refers to it

  const Value* find_here(NameId name) const;
  void set(NameId name, Value value);
};

constexpr int kMaxLevel = 1200;  // statements and expressions inside each other, through all macros

class Interpreter {
 public:
  Interpreter(const Program& program, const Value& context, const RenderOptions& options);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  String run();

 private:
  enum class Flow { next, break_loop, continue_loop };

  // Statements.
  Flow block(const Block& body);
  Flow statement(const Stmt& stmt);
  Flow scoped(const Block& body);
  Flow loop(const Stmt& stmt, const Value& over, int depth);
  Flow iterations(const Stmt& stmt, const std::vector<Value>& items, int depth);
  std::vector<Value> filtered(const Stmt& stmt, std::vector<Value> items);
  Flow with(const Stmt& stmt);
  void call_block(const Stmt& stmt);
  Value captured(const Block& body);  // the text of a block with a scope of its own
  void assign(const Target& target, const Value& value);
  Value make_macro(std::shared_ptr<Macro> macro);
  Value call_macro(const Macro& macro, const std::shared_ptr<Scope>& defined_in, const Arguments& arguments);
  void bind(const Macro& macro, const Arguments& arguments);
  void keep_scopes();

  // Expressions.
  Value evaluate(const Expr& e);
  Value sequence(const Expr& e);
  Value concat(const Expr& e);
  Value comparison(const Expr& e);
  Value slice(const Expr& e);
  Value call(const Expr& e, const Value* caller = nullptr);
  Value filter(const Expr& e, const Value* input);
  Value test(const Expr& e);
  Arguments arguments(const CallArguments& a);
  Value call_value(const Value& callee, const Arguments& args);
  Value lookup(NameId name) const;
  void print(const Value& v);
  // Filters of a block: the innermost one has no input of its own.
  Value filter_text(const Expr& e, const Value& text);

  // Guards recursion.
  class Level {
   public:
    explicit Level(Interpreter* i) : interpreter_(i) {
      if (interpreter_->level_ >= kMaxLevel) fail(FailureKind::budget, "the template is nested too deep");
      ++interpreter_->level_;
    }
    ~Level() { --interpreter_->level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Interpreter* interpreter_;
  };

  const Program& program_;
  std::shared_ptr<Scope> scope_;
  String* out_ = nullptr;
  int level_ = 0;
  int calls_ = 0;                                      // macros inside each other
  std::vector<std::shared_ptr<Scope>> kept_;           // may be in cycles; emptied in the end
  std::vector<std::shared_ptr<const Object>> spaces_;  // namespaces, likewise
  std::optional<NameId> loop_name_, caller_name_, varargs_name_, kwargs_name_;
};

}  // namespace assay::text::jinja
