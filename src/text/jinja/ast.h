#pragma once
// The tree of a parsed template. Names are numbers: an index into Program::names.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja/value.h"

namespace assay::text::jinja {

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using Block = std::vector<Stmt>;
using NameId = uint32_t;

struct CallArguments {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> named;
  ExprPtr star, double_star;
};

struct Expr {
  enum class Kind {
    constant,    // value
    name,        // name
    list,        // parts
    tuple,       // parts
    dict,        // parts: key, value, key, value...
    negate,      // parts[0]
    plus,        // parts[0]
    negation,    // not parts[0]
    arithmetic,  // parts[0] text parts[1]
    concat,      // parts joined as text
    compare,     // parts[0] ops[0] parts[1] ops[1] parts[2]...
    logic_and,   // parts[0] and parts[1]
    logic_or,
    condition,  // parts[1] if parts[0] else parts[2] (may be null)
    attribute,  // parts[0].text
    item,       // parts[0][parts[1]]
    slice,      // parts[0][parts[1]:parts[2]:parts[3]], each may be null
    call,       // parts[0](arguments)
    filter,     // parts[0]|text(arguments); parts[0] null: the text of a block
    test,       // parts[0] is text(arguments)
  };
  Kind kind;
  int line = 0;
  NameId name = 0;
  std::string text;
  Value value;
  std::vector<ExprPtr> parts;
  std::vector<std::string> ops;
  CallArguments arguments;
};

// What a set or for assigns to: a name, an attribute of a namespace, or several of them.
struct Target {
  NameId name = 0;
  std::string attribute;        // of the namespace `name`, if not empty
  std::vector<Target> several;  // unpacking, if not empty
};

struct Macro {
  std::string name;
  std::vector<NameId> parameters;
  std::vector<ExprPtr> defaults;  // of the last parameters
  bool takes_varargs = false, takes_kwargs = false, takes_caller = false;
  Block body;
};

struct Stmt {
  enum class Kind {
    text,          // text
    print,         // expr
    branch,        // if expr: body, else: otherwise
    loop,          // for target in expr if condition: body, else: otherwise
    assign,        // set target = expr
    assign_block,  // set target: body, through the filters in expr (may be null)
    macro,         // macro, bound to target
    call,          // call macro: expr (a call) with caller = macro
    filter,        // body through expr
    with,          // targets = exprs: body
    scope,         // body in a scope of its own
    break_loop,
    continue_loop,
  };
  explicit Stmt(Kind k, int l = 0) : kind(k), line(l) {}

  Kind kind;
  int line = 0;
  Value text;
  ExprPtr expr, condition;
  Target target;
  bool recursive = false;
  Block body, otherwise;
  std::shared_ptr<Macro> macro;
  std::vector<std::pair<Target, ExprPtr>> with;
};

struct Program {
  Block body;
  std::vector<std::string> names;
};

}  // namespace assay::text::jinja
