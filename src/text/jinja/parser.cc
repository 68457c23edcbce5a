#include "text/jinja/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/failure.h"
#include "text/jinja/parser_impl.h"

namespace assay::text::jinja {

Program parse_program(std::string_view source) {
  return Parser(source).run();
}

Program Parser::run() {
  Program program;
  program.body = block({});
  if (!unknown_.empty()) throw unknown_.front();
  program.names = std::move(names_);
  return program;
}

Token Parser::take() {
  Token token = now();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Parser::take_op(std::string_view text) {
  return is_op(text) ? (take(), true) : false;
}
bool Parser::take_name(std::string_view text) {
  return is_name(text) ? (take(), true) : false;
}

void Parser::expect_op(std::string_view text) {
  if (!take_op(text)) bad(fmt::format("'{}' is missing", text));
}

void Parser::expect_name(std::string_view text) {
  if (!take_name(text)) bad(fmt::format("'{}' is missing", text));
}

void Parser::expect_block_end() {
  if (now().kind != Token::Kind::block_end) bad("'%}' is missing");
  take();
}

std::string Parser::expect_identifier() {
  if (now().kind != Token::Kind::name || (now().text[0] >= '0' && now().text[0] <= '9'))
    bad("a name is missing");
  return take().text;
}

void Parser::bad(const std::string& message) const {
  std::string near = now().kind == Token::Kind::end ? "at the end" : now().text.substr(0, 40);
  if (!near.empty() && now().kind != Token::Kind::end) near = fmt::format("near '{}'", near);
  throw Failure{FailureKind::syntax, near.empty() ? message : fmt::format("{} ({})", message, near),
                now().line};
}

void Parser::unsupported(const std::string& what) const {
  throw Failure{FailureKind::unsupported, fmt::format("{} is not supported in chat templates", what),
                now().line};
}

NameId Parser::id_of(const std::string& name) {
  const auto [found, is_new] = ids_.emplace(name, static_cast<NameId>(names_.size()));
  if (is_new) names_.push_back(name);
  return found->second;
}

Block Parser::block(std::initializer_list<std::string_view> ends) {
  Nested nested(this);
  Block out;
  for (;;) {
    switch (now().kind) {
      case Token::Kind::end:
        if (ends.size() != 0) bad(fmt::format("'{}' is missing", *(ends.end() - 1)));
        return out;
      case Token::Kind::data: {
        Stmt stmt(Stmt::Kind::text, now().line);
        stmt.text = Value::trusted(take().text);
        out.push_back(std::move(stmt));
        break;
      }
      case Token::Kind::print_begin:
        out.push_back(print());
        break;
      default: {
        take();  // {%
        if (now().kind != Token::Kind::name) bad("a tag name is missing");
        if (std::find(ends.begin(), ends.end(), now().text) != ends.end()) {
          ended_by_ = take().text;
          return out;
        }
        statement(&out);
      }
    }
  }
}

Stmt Parser::print() {
  Stmt stmt(Stmt::Kind::print, now().line);
  take();
  stmt.expr = tuple(true, {});
  if (now().kind != Token::Kind::print_end) bad("'}}' is missing");
  take();
  return stmt;
}

void Parser::statement(Block* out) {
  const int line = now().line;
  const std::string tag = take().text;
  const auto made = [&]() -> Stmt {
    if (tag == "if") return branch();
    if (tag == "for") return loop();
    if (tag == "set") return assign();
    if (tag == "macro") return macro();
    if (tag == "call") return call();
    if (tag == "filter") return filter_block();
    if (tag == "with") return with();
    if (tag == "generation") return scope();
    if (tag == "break") return jump(Stmt::Kind::break_loop);
    if (tag == "continue") return jump(Stmt::Kind::continue_loop);
    for (const char* known : {"include", "import", "from", "extends", "block", "autoescape", "trans"})
      if (tag == known) unsupported(fmt::format("the tag '{}'", tag));
    throw Failure{FailureKind::syntax, fmt::format("an unknown or misplaced tag '{}'", tag), line};
  };
  out->push_back(made());
  out->back().line = line;
}

Stmt Parser::branch() {
  Nested nested(this);
  Temporarily soft(&soft_, true);
  Stmt stmt(Stmt::Kind::branch);
  stmt.expr = tuple(false, {});
  expect_block_end();
  stmt.body = block({"elif", "else", "endif"});
  if (ended_by_ == "elif") {
    const int line = now().line;
    stmt.otherwise.push_back(branch());
    stmt.otherwise.back().line = line;
    return stmt;
  }
  if (ended_by_ == "else") {
    expect_block_end();
    stmt.otherwise = block({"endif"});
  }
  expect_block_end();
  return stmt;
}

Stmt Parser::loop() {
  Stmt stmt(Stmt::Kind::loop);
  stmt.target = target(false);
  expect_name("in");
  stmt.expr = tuple(false, {"recursive"});
  Temporarily soft(&soft_, false);
  if (take_name("if")) stmt.condition = expression();
  stmt.recursive = take_name("recursive");
  expect_block_end();
  {
    Temporarily loops(&loops_, loops_ + 1);
    stmt.body = block({"else", "endfor"});
  }
  if (ended_by_ == "else") {
    expect_block_end();
    stmt.otherwise = block({"endfor"});
  }
  expect_block_end();
  return stmt;
}

Target Parser::single_target(bool with_namespace) {
  Target out;
  if (now().kind == Token::Kind::name)
    for (const char* constant : {"true", "false", "none", "True", "False", "None"})
      if (is_name(constant)) bad("a constant cannot be assigned to");
  out.name = id_of(expect_identifier());
  if (with_namespace && take_op(".")) out.attribute = expect_identifier();
  return out;
}

Target Parser::target(bool with_namespace) {
  Nested nested(this);
  const auto one = [&] {
    if (!take_op("(")) return single_target(with_namespace);
    Target inner = target(with_namespace);
    expect_op(")");
    return inner;
  };
  Target first = one();
  if (!is_op(",")) return first;
  Target out;
  out.several.push_back(std::move(first));
  while (take_op(",")) {
    if (is_op("=") || is_op(")") || is_name("in") || now().kind == Token::Kind::block_end) break;
    out.several.push_back(one());
  }
  return out;
}

Stmt Parser::assign() {
  Stmt stmt(Stmt::Kind::assign);
  stmt.target = target(true);
  if (take_op("=")) {
    stmt.expr = tuple(true, {});
    expect_block_end();
    return stmt;
  }
  stmt.kind = Stmt::Kind::assign_block;
  Temporarily soft(&soft_, false);
  while (take_op("|")) stmt.expr = filter_of(std::move(stmt.expr));
  expect_block_end();
  stmt.body = block({"endset"});
  expect_block_end();
  return stmt;
}

void Parser::signature(Macro* made) {
  expect_op("(");
  while (!is_op(")")) {
    if (!made->parameters.empty()) expect_op(",");
    made->parameters.push_back(id_of(expect_identifier()));
    if (take_op("="))
      made->defaults.push_back(expression());
    else if (!made->defaults.empty())
      bad("a parameter without a default behind one with a default");
  }
  expect_op(")");
}

std::shared_ptr<Macro> Parser::signature_and_body(std::string name, bool has_signature,
                                                  std::string_view end) {
  auto made = std::make_shared<Macro>();
  made->name = std::move(name);
  macros_.push_back(made.get());
  Temporarily soft(&soft_, false);
  Temporarily loops(&loops_, 0);
  if (has_signature) signature(made.get());
  if (end == "endcall") return made;  // the call comes first
  expect_block_end();
  made->body = block({end});
  expect_block_end();
  macros_.pop_back();
  return made;
}

Stmt Parser::macro() {
  Stmt stmt(Stmt::Kind::macro);
  std::string name = expect_identifier();
  stmt.target.name = id_of(name);
  stmt.macro = signature_and_body(std::move(name), true, "endmacro");
  return stmt;
}

Stmt Parser::call() {
  Stmt stmt(Stmt::Kind::call);
  stmt.macro = signature_and_body("caller", is_op("("), "endcall");
  macros_.pop_back();
  stmt.expr = expression();
  if (stmt.expr->kind != Expr::Kind::call) bad("{% call %} needs a call");
  macros_.push_back(stmt.macro.get());
  Temporarily soft(&soft_, false);
  Temporarily loops(&loops_, 0);
  expect_block_end();
  stmt.macro->body = block({"endcall"});
  expect_block_end();
  macros_.pop_back();
  return stmt;
}

Stmt Parser::filter_block() {
  Stmt stmt(Stmt::Kind::filter);
  Temporarily soft(&soft_, false);
  stmt.expr = filter_of(nullptr);
  while (take_op("|")) stmt.expr = filter_of(std::move(stmt.expr));
  expect_block_end();
  stmt.body = block({"endfilter"});
  expect_block_end();
  return stmt;
}

Stmt Parser::with() {
  Stmt stmt(Stmt::Kind::with);
  while (now().kind != Token::Kind::block_end) {
    if (!stmt.with.empty()) expect_op(",");
    Target to = single_target(false);
    expect_op("=");
    stmt.with.emplace_back(std::move(to), expression());
  }
  Temporarily soft(&soft_, false);
  expect_block_end();
  stmt.body = block({"endwith"});
  expect_block_end();
  return stmt;
}

Stmt Parser::scope() {
  Stmt stmt(Stmt::Kind::scope);
  Temporarily soft(&soft_, false);
  expect_block_end();
  stmt.body = block({"endgeneration"});
  expect_block_end();
  return stmt;
}

Stmt Parser::jump(Stmt::Kind kind) {
  if (loops_ == 0) bad("break and continue need a loop around them");
  expect_block_end();
  return Stmt(kind);
}

}  // namespace assay::text::jinja
