#pragma once
// The parser's state and its productions. parser.cc has the statements, parser_expression.cc the expressions.
#include <initializer_list>
#include <map>
#include <set>

#include "text/jinja/failure.h"
#include "text/jinja/lexer.h"
#include "text/jinja/parser.h"

namespace assay::text::jinja {

class Parser {
 public:
  explicit Parser(std::string_view source) : tokens_(tokenize(source)) {}
  Program run();

 private:
  // Tokens.
  const Token& now() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token take();
  bool is_op(std::string_view text) const { return now().kind == Token::Kind::op && now().text == text; }
  bool is_name(std::string_view text) const { return now().kind == Token::Kind::name && now().text == text; }
  bool take_op(std::string_view text);
  bool take_name(std::string_view text);
  void expect_op(std::string_view text);
  void expect_name(std::string_view text);
  void expect_block_end();
  std::string expect_identifier();
  [[noreturn]] void bad(const std::string& message) const;
  [[noreturn]] void unsupported(const std::string& what) const;
  NameId id_of(const std::string& name);

  // Statements.
  Block block(std::initializer_list<std::string_view>
                  ends);  // up to {% end, which is taken; the name is in ended_by_
  void statement(Block* out);
  Stmt print();
  Stmt branch();
  Stmt loop();
  Stmt assign();
  Stmt macro();
  Stmt call();
  Stmt filter_block();
  Stmt with();
  Stmt scope();
  Stmt jump(Stmt::Kind kind);
  std::shared_ptr<Macro> signature_and_body(std::string name, bool has_signature, std::string_view end);
  void signature(Macro* macro);
  Target target(bool with_namespace);
  Target single_target(bool with_namespace);

  // Expressions.
  ExprPtr tuple(bool with_condition, std::initializer_list<std::string_view> end_names,
                bool in_parentheses = false);
  bool is_tuple_end(std::initializer_list<std::string_view> end_names) const;
  ExprPtr expression() { return condition(); }
  ExprPtr condition();
  ExprPtr logic_or();
  ExprPtr logic_and();
  ExprPtr negation();
  ExprPtr compare();
  ExprPtr sum();
  ExprPtr concat();
  ExprPtr product();
  ExprPtr power();
  ExprPtr unary(bool with_filter);
  ExprPtr primary();
  ExprPtr number_constant();
  ExprPtr string_constant();
  ExprPtr name_or_constant();
  ExprPtr list_literal();
  ExprPtr dict_literal();
  ExprPtr postfix(ExprPtr node);
  ExprPtr filters_and_tests(ExprPtr node);
  ExprPtr subscript(ExprPtr node);
  ExprPtr subscript_key(ExprPtr node);
  ExprPtr call_of(ExprPtr node);
  ExprPtr filter_of(ExprPtr node);  // behind the |
  ExprPtr test_of(ExprPtr node);    // behind the "is"
  CallArguments call_arguments();
  void call_argument(CallArguments* out);
  std::string dotted_name();
  void note_unknown(std::string_view what, const std::string& name);
  ExprPtr make(Expr::Kind kind) const;
  ExprPtr binary(Expr::Kind kind, std::string text, ExprPtr left, ExprPtr right) const;
  void note_special_name(const std::string& name);

  std::vector<Token> tokens_;
  size_t at_ = 0;
  std::string ended_by_;
  int depth_ = 0;                 // productions inside each other
  int loops_ = 0;                 // for loops around, inside the innermost macro
  bool soft_ = false;             // inside an if: an unknown filter fails only when reached
  std::vector<Failure> unknown_;  // filters and tests that do not exist, outside of branches
  std::map<std::string, NameId> ids_;
  std::vector<std::string> names_;
  std::vector<Macro*> macros_;  // being read, innermost last

  friend class Nested;
};

// Guards recursion; the depth of a template is bounded.
class Nested {
 public:
  explicit Nested(Parser* parser) : parser_(parser) {
    if (++parser_->depth_ > kMax) parser_->bad("the template is nested too deep");
  }
  ~Nested() { --parser_->depth_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  static constexpr int kMax = 120;
  Parser* parser_;
};

// Sets a variable for a while.
template <class T>
class Temporarily {
 public:
  Temporarily(T* place, T value) : place_(place), before_(*place) { *place = value; }
  ~Temporarily() { *place_ = before_; }
  Temporarily(const Temporarily&) = delete;
  Temporarily& operator=(const Temporarily&) = delete;

 private:
  T* place_;
  T before_;
};

}  // namespace assay::text::jinja
