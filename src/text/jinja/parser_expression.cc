#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/failure.h"
#include "text/jinja/library.h"
#include "text/jinja/parser_impl.h"

namespace assay::text::jinja {
namespace {

constexpr int kMaxChain = 400;  // operators of one precedence in a row, subscripts in a row

}  // namespace

ExprPtr Parser::make(Expr::Kind kind) const {
  auto out = std::make_unique<Expr>();
  out->kind = kind;
  out->line = now().line;
  return out;
}

ExprPtr Parser::binary(Expr::Kind kind, std::string text, ExprPtr left, ExprPtr right) const {
  ExprPtr out = make(kind);
  out->text = std::move(text);
  out->parts.push_back(std::move(left));
  out->parts.push_back(std::move(right));
  return out;
}

bool Parser::is_tuple_end(std::initializer_list<std::string_view> end_names) const {
  if (now().kind == Token::Kind::print_end || now().kind == Token::Kind::block_end || is_op(")")) return true;
  return std::any_of(end_names.begin(), end_names.end(), [&](std::string_view n) { return is_name(n); });
}

ExprPtr Parser::tuple(bool with_condition, std::initializer_list<std::string_view> end_names,
                      bool in_parentheses) {
  Nested nested(this);
  ExprPtr out = make(Expr::Kind::tuple);
  bool is_tuple = false;
  for (;;) {
    if (!out->parts.empty() && !take_op(",")) break;
    if (!out->parts.empty()) is_tuple = true;
    if (is_tuple_end(end_names)) break;
    out->parts.push_back(with_condition ? condition() : logic_or());
  }
  if (is_tuple) return out;
  if (!out->parts.empty()) return std::move(out->parts[0]);
  if (!in_parentheses) bad("an expression is missing");
  return out;
}

ExprPtr Parser::condition() {
  Nested nested(this);
  const size_t unknown_before = unknown_.size();
  ExprPtr value = logic_or();
  for (int count = 0; take_name("if"); ++count) {
    if (count > kMaxChain) bad("too many conditions in a row");
    ExprPtr out = make(Expr::Kind::condition);
    out->parts.push_back(logic_or());
    out->parts.push_back(std::move(value));
    out->parts.push_back(take_name("else") ? condition() : nullptr);
    value = std::move(out);
    unknown_.resize(unknown_before, {});  // each part may never be reached
  }
  return value;
}

void Parser::note_unknown(std::string_view what, const std::string& name) {
  if (soft_) return;
  unknown_.push_back({FailureKind::unknown_name, fmt::format("there is no {} '{}'", what, name), now().line});
}

ExprPtr Parser::logic_or() {
  ExprPtr left = logic_and();
  for (int count = 0; take_name("or"); ++count) {
    if (count > kMaxChain) bad("too many 'or' in a row");
    left = binary(Expr::Kind::logic_or, "or", std::move(left), logic_and());
  }
  return left;
}

ExprPtr Parser::logic_and() {
  ExprPtr left = negation();
  for (int count = 0; take_name("and"); ++count) {
    if (count > kMaxChain) bad("too many 'and' in a row");
    left = binary(Expr::Kind::logic_and, "and", std::move(left), negation());
  }
  return left;
}

ExprPtr Parser::negation() {
  if (!is_name("not")) return compare();
  Nested nested(this);
  take();
  ExprPtr out = make(Expr::Kind::negation);
  out->parts.push_back(negation());
  return out;
}

ExprPtr Parser::compare() {
  ExprPtr out = make(Expr::Kind::compare);
  out->parts.push_back(sum());
  for (;;) {
    constexpr std::string_view kOps[] = {"==", "!=", "<", "<=", ">", ">="};
    const bool symbol =
        std::any_of(std::begin(kOps), std::end(kOps), [&](std::string_view op) { return is_op(op); });
    if (symbol) {
      out->ops.push_back(take().text);
    } else if (take_name("in")) {
      out->ops.emplace_back("in");
    } else if (is_name("not") && ahead().kind == Token::Kind::name && ahead().text == "in") {
      take();
      take();
      out->ops.emplace_back("not in");
    } else {
      break;
    }
    out->parts.push_back(sum());
  }
  return out->ops.empty() ? std::move(out->parts[0]) : std::move(out);
}

ExprPtr Parser::sum() {
  ExprPtr left = concat();
  for (int count = 0; is_op("+") || is_op("-"); ++count) {
    if (count > kMaxChain) bad("too many + or - in a row");
    std::string op = take().text;
    left = binary(Expr::Kind::arithmetic, std::move(op), std::move(left), concat());
  }
  return left;
}

ExprPtr Parser::concat() {
  ExprPtr first = product();
  if (!is_op("~")) return first;
  ExprPtr out = make(Expr::Kind::concat);
  out->parts.push_back(std::move(first));
  while (take_op("~")) out->parts.push_back(product());
  return out;
}

ExprPtr Parser::product() {
  ExprPtr left = power();
  for (int count = 0; is_op("*") || is_op("/") || is_op("//") || is_op("%"); ++count) {
    if (count > kMaxChain) bad("too many * or / in a row");
    std::string op = take().text;
    left = binary(Expr::Kind::arithmetic, std::move(op), std::move(left), power());
  }
  return left;
}

ExprPtr Parser::power() {
  ExprPtr left = unary(true);
  for (int count = 0; take_op("**"); ++count) {
    if (count > kMaxChain) bad("too many ** in a row");
    left = binary(Expr::Kind::arithmetic, "**", std::move(left), unary(true));
  }
  return left;
}

ExprPtr Parser::unary(bool with_filter) {
  Nested nested(this);
  ExprPtr node;
  if (is_op("-") || is_op("+")) {
    node = make(take().text == "-" ? Expr::Kind::negate : Expr::Kind::plus);
    node->parts.push_back(unary(false));
  } else {
    node = primary();
  }
  node = postfix(std::move(node));
  return with_filter ? filters_and_tests(std::move(node)) : std::move(node);
}

ExprPtr Parser::primary() {
  switch (now().kind) {
    case Token::Kind::name:
      return name_or_constant();
    case Token::Kind::string:
      return string_constant();
    case Token::Kind::integer:
    case Token::Kind::real:
      return number_constant();
    default:
      break;
  }
  if (take_op("(")) {
    ExprPtr out = tuple(true, {}, true);
    expect_op(")");
    return out;
  }
  if (is_op("[")) return list_literal();
  if (is_op("{")) return dict_literal();
  bad("an expression is missing");
}

ExprPtr Parser::name_or_constant() {
  ExprPtr out = make(Expr::Kind::constant);
  if (is_name("true") || is_name("True")) {
    out->value = Value(true);
  } else if (is_name("false") || is_name("False")) {
    out->value = Value(false);
  } else if (!is_name("none") && !is_name("None")) {
    out->kind = Expr::Kind::name;
    const std::string name = expect_identifier();
    if (name == "self") unsupported("'self'");
    note_special_name(name);
    out->name = id_of(name);
    return out;
  }
  take();
  return out;
}

void Parser::note_special_name(const std::string& name) {
  for (Macro* macro : macros_) {
    if (name == "varargs") macro->takes_varargs = true;
    if (name == "kwargs") macro->takes_kwargs = true;
    if (name == "caller") macro->takes_caller = true;
  }
}

ExprPtr Parser::string_constant() {
  ExprPtr out = make(Expr::Kind::constant);
  std::string text;
  while (now().kind == Token::Kind::string) text += take().text;
  out->value = Value::trusted(std::move(text));
  return out;
}

ExprPtr Parser::number_constant() {
  ExprPtr out = make(Expr::Kind::constant);
  const Token token = take();
  if (token.kind == Token::Kind::real) {
    out->value = Value(std::strtod(token.text.c_str(), nullptr));
    return out;
  }
  if (token.text.size() > 4300) bad("an integer of too many digits");
  std::string digits = token.text;
  BigInt value = 0;
  if (digits.size() > 2 && (digits[1] == 'b' || digits[1] == 'B')) {
    for (const char bit : digits.substr(2)) value = value * 2 + (bit - '0');
  } else {
    if (digits.size() > 2 && (digits[1] == 'o' || digits[1] == 'O')) digits.erase(1, 1);
    if (digits.find_first_not_of('0') == std::string::npos) digits = "0";
    value = BigInt(digits);
  }
  out->value = from_big(value);
  return out;
}

ExprPtr Parser::list_literal() {
  ExprPtr out = make(Expr::Kind::list);
  expect_op("[");
  while (!is_op("]")) {
    if (!out->parts.empty()) expect_op(",");
    if (is_op("]")) break;
    out->parts.push_back(expression());
  }
  expect_op("]");
  return out;
}

ExprPtr Parser::dict_literal() {
  ExprPtr out = make(Expr::Kind::dict);
  expect_op("{");
  while (!is_op("}")) {
    if (!out->parts.empty()) expect_op(",");
    if (is_op("}")) break;
    out->parts.push_back(expression());
    expect_op(":");
    out->parts.push_back(expression());
  }
  expect_op("}");
  return out;
}

ExprPtr Parser::postfix(ExprPtr node) {
  for (int count = 0;; ++count) {
    if (count > kMaxChain) bad("too many subscripts in a row");
    if (is_op(".") || is_op("["))
      node = subscript(std::move(node));
    else if (is_op("("))
      node = call_of(std::move(node));
    else
      return node;
  }
}

ExprPtr Parser::filters_and_tests(ExprPtr node) {
  for (int count = 0;; ++count) {
    if (count > kMaxChain) bad("too many filters in a row");
    if (take_op("|"))
      node = filter_of(std::move(node));
    else if (take_name("is"))
      node = test_of(std::move(node));
    else if (is_op("("))
      node = call_of(std::move(node));
    else
      return node;
  }
}

ExprPtr Parser::subscript(ExprPtr node) {
  if (take_op(".")) {
    ExprPtr out = make(Expr::Kind::attribute);
    if (now().kind == Token::Kind::integer) {
      out = make(Expr::Kind::item);
      out->parts.push_back(std::move(node));
      out->parts.push_back(number_constant());
      return out;
    }
    out->text = expect_identifier();
    if (is_op("(") && is_refused_method(out->text)) unsupported(fmt::format("the method '{}'", out->text));
    out->parts.push_back(std::move(node));
    return out;
  }
  expect_op("[");
  return subscript_key(std::move(node));
}

ExprPtr Parser::subscript_key(ExprPtr node) {
  Nested nested(this);
  ExprPtr out = make(Expr::Kind::item);
  out->parts.push_back(std::move(node));
  ExprPtr keys = make(Expr::Kind::tuple);
  while (!is_op("]")) {
    if (!keys->parts.empty()) expect_op(",");
    if (is_op("]")) break;
    ExprPtr first = is_op(":") ? nullptr : expression();
    if (!is_op(":")) {
      keys->parts.push_back(std::move(first));
      continue;
    }
    if (!keys->parts.empty()) unsupported("a slice among several subscripts");
    out->kind = Expr::Kind::slice;
    out->parts.push_back(std::move(first));
    for (int i = 0; i < 2; ++i) {
      const bool present = take_op(":") && !is_op(":") && !is_op("]");
      out->parts.push_back(present ? expression() : nullptr);
    }
    expect_op("]");
    return out;
  }
  expect_op("]");
  if (keys->parts.empty()) bad("a subscript is missing");
  out->parts.push_back(keys->parts.size() == 1 ? std::move(keys->parts[0]) : std::move(keys));
  return out;
}

ExprPtr Parser::call_of(ExprPtr node) {
  ExprPtr out = make(Expr::Kind::call);
  out->parts.push_back(std::move(node));
  out->arguments = call_arguments();
  return out;
}

CallArguments Parser::call_arguments() {
  Nested nested(this);
  CallArguments out;
  expect_op("(");
  bool first = true;
  while (!is_op(")")) {
    if (!first) expect_op(",");
    first = false;
    if (is_op(")")) break;
    call_argument(&out);
  }
  expect_op(")");
  return out;
}

void Parser::call_argument(CallArguments* out) {
  if (take_op("*")) {
    if (out->star || out->double_star) bad("a misplaced * argument");
    out->star = expression();
  } else if (take_op("**")) {
    if (out->double_star) bad("a second ** argument");
    out->double_star = expression();
  } else if (now().kind == Token::Kind::name && ahead().kind == Token::Kind::op && ahead().text == "=") {
    if (out->double_star) bad("a misplaced named argument");
    std::string name = take().text;
    take();
    out->named.emplace_back(std::move(name), expression());
  } else {
    if (out->star || out->double_star || !out->named.empty()) bad("a positional argument behind a named one");
    out->positional.push_back(expression());
  }
}

std::string Parser::dotted_name() {
  std::string name = expect_identifier();
  while (take_op(".")) name += "." + expect_identifier();
  return name;
}

ExprPtr Parser::filter_of(ExprPtr node) {
  ExprPtr out = make(Expr::Kind::filter);
  out->text = dotted_name();
  out->parts.push_back(std::move(node));
  if (find_filter(out->text) == nullptr) note_unknown("filter", out->text);
  if (is_op("(")) out->arguments = call_arguments();
  return out;
}

ExprPtr Parser::test_of(ExprPtr node) {
  const bool negated = take_name("not");
  ExprPtr out = make(Expr::Kind::test);
  out->text = dotted_name();
  out->parts.push_back(std::move(node));
  if (find_test(out->text) == nullptr) note_unknown("test", out->text);
  const bool starts_argument = now().kind == Token::Kind::name || now().kind == Token::Kind::string ||
                               now().kind == Token::Kind::integer || now().kind == Token::Kind::real ||
                               is_op("[") || is_op("{");
  if (is_op("(")) {
    out->arguments = call_arguments();
  } else if (starts_argument && !is_name("else") && !is_name("or") && !is_name("and")) {
    if (is_name("is")) bad("tests cannot be chained with 'is'");
    out->arguments.positional.push_back(postfix(primary()));
  }
  if (!negated) return out;
  ExprPtr outer = make(Expr::Kind::negation);
  outer->parts.push_back(std::move(out));
  return outer;
}

}  // namespace assay::text::jinja
