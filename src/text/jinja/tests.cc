// What stands behind "is".
#include <fmt/format.h>

#include "text/jinja/library.h"

namespace assay::text::jinja {
namespace {

const Value& operand(const Arguments& a) {
  if (a.size() != 1 || a.positional.size() != 1) type_error("this test needs one argument");
  return a.positional[0];
}

bool divides(const Value& v, const Value& by) {
  return equals(arithmetic("%", v, by), Value(0));
}

bool is_odd(const Value& v, const Arguments&) {
  if (!is_number(v)) type_error(fmt::format("a {} is neither odd nor even", type_name(v)));
  return equals(arithmetic("%", v, Value(2)), Value(1));
}

bool is_same(const Value& v, const Arguments& a) {
  const Value& other = operand(a);
  if (v.kind() != other.kind() || v.is_undefined()) return false;
  if (v.is_sequence()) return &v.items() == &other.items();
  if (v.is_dict()) return &v.entries() == &other.entries();
  return equals(v, other);
}

bool is_callable(const Value& v, const Arguments&) {
  return v.is_undefined() || as_callable(v) || as_loop(v);
}

struct NamedTest {
  std::string_view name;
  Test test;
};
constexpr NamedTest kTests[] = {
    {"defined", [](const Value& v, const Arguments&) { return !v.is_undefined(); }},
    {"undefined", [](const Value& v, const Arguments&) { return v.is_undefined(); }},
    {"none", [](const Value& v, const Arguments&) { return v.is_none(); }},
    {"boolean", [](const Value& v, const Arguments&) { return v.is_bool(); }},
    {"true", [](const Value& v, const Arguments&) { return v.is_bool() && v.as_bool(); }},
    {"false", [](const Value& v, const Arguments&) { return v.is_bool() && !v.as_bool(); }},
    {"integer", [](const Value& v, const Arguments&) { return is_integer(v) && !v.is_bool(); }},
    {"float", [](const Value& v, const Arguments&) { return v.is_real(); }},
    {"number", [](const Value& v, const Arguments&) { return is_number(v); }},
    {"string", [](const Value& v, const Arguments&) { return v.is_string(); }},
    {"mapping", [](const Value& v, const Arguments&) { return v.is_dict(); }},
    {"sequence",
     [](const Value& v, const Arguments&) {
       return v.is_sequence() || v.is_string() || v.is_dict() || v.is_undefined() || as_range(v) != nullptr;
     }},
    {"iterable", [](const Value& v, const Arguments&) { return is_iterable(v); }},
    {"callable", is_callable},
    {"sameas", is_same},
    {"escaped", [](const Value& v, const Arguments&) { return v.is_string() && v.as_string().markup; }},
    {"odd", is_odd},
    {"even",
     [](const Value& v, const Arguments&) {
       if (!is_number(v)) type_error(fmt::format("a {} is neither odd nor even", type_name(v)));
       return divides(v, Value(2));
     }},
    {"divisibleby", [](const Value& v, const Arguments& a) { return divides(v, operand(a)); }},
    {"lower",
     [](const Value& v, const Arguments&) { return truthy(call_string_method(to_text(v), "islower", {})); }},
    {"upper",
     [](const Value& v, const Arguments&) { return truthy(call_string_method(to_text(v), "isupper", {})); }},
    {"in", [](const Value& v, const Arguments& a) { return contains(operand(a), v); }},
    {"filter",
     [](const Value& v, const Arguments&) {
       return v.is_string() && find_filter(v.as_string().view()) != nullptr;
     }},
    {"test", [](const Value& v,
                const Arguments&) { return v.is_string() && find_test(v.as_string().view()) != nullptr; }},
    {"eq", [](const Value& v, const Arguments& a) { return equals(v, operand(a)); }},
    {"ne", [](const Value& v, const Arguments& a) { return !equals(v, operand(a)); }},
    {"lt", [](const Value& v, const Arguments& a) { return compare(v, operand(a), "<") < 0; }},
    {"le", [](const Value& v, const Arguments& a) { return compare(v, operand(a), "<=") <= 0; }},
    {"gt", [](const Value& v, const Arguments& a) { return compare(v, operand(a), ">") > 0; }},
    {"ge", [](const Value& v, const Arguments& a) { return compare(v, operand(a), ">=") >= 0; }},
};

constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"==", "eq"}, {"equalto", "eq"}, {"!=", "ne"},          {"<", "lt"},  {"lessthan", "lt"},
    {"<=", "le"}, {">", "gt"},       {"greaterthan", "gt"}, {">=", "ge"},
};

}  // namespace

Test find_test(std::string_view name) {
  for (const auto& [alias, real] : kAliases)
    if (alias == name) name = real;
  for (const NamedTest& t : kTests)
    if (t.name == name) return t.test;
  return nullptr;
}

}  // namespace assay::text::jinja
