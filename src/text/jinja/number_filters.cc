// Filters about numbers, and those that hand a value on.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "text/jinja/library.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace assay::text::jinja {
namespace {

// Python's int(text, base), after which ok is false if it is no integer.
Value parse_integer(const std::string& raw, int64_t base, bool* ok) {
  std::string text = strip(String::trusted(raw), nullptr, true, true).bytes();
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) text.erase(0, 1);
  const std::string prefix = text.substr(0, 2);
  if ((base == 16 && (prefix == "0x" || prefix == "0X")) ||
      (base == 8 && (prefix == "0o" || prefix == "0O")) || (base == 2 && (prefix == "0b" || prefix == "0B")))
    text.erase(0, 2);
  *ok = !text.empty() && text.size() <= 4300 && base >= 2 && base <= 36 && text.front() != '_' &&
        text.back() != '_';
  BigInt out = 0;
  for (size_t i = 0; i < text.size() && *ok; ++i) {
    const char c = text[i];
    if (c == '_' && text[i - 1] != '_') continue;
    const int digit = c >= '0' && c <= '9'                          ? c - '0'
                      : std::isalpha(static_cast<unsigned char>(c)) ? (c | 32) - 'a' + 10
                                                                    : 99;
    *ok = digit < base;
    out = out * base + digit;
  }
  if (negative) out = -out;
  return *ok ? from_big(out) : Value();
}

// Python's float(text); false if it is no number.
bool parse_real(const std::string& raw, double* out) {
  std::string text = map_case(strip(String::trusted(raw), nullptr, true, true), false).bytes();
  std::erase(text, '_');
  const std::string bare = !text.empty() && (text[0] == '-' || text[0] == '+') ? text.substr(1) : text;
  const bool word = bare == "inf" || bare == "infinity" || bare == "nan";
  if (!word && (bare.empty() || bare.find_first_not_of("0123456789.e+-") != std::string::npos)) return false;
  char* end = nullptr;
  *out = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size();
}

Value int_filter(const Value& input, const Arguments& a) {
  const Value* fallback = a.get(0, "default");
  const Value* base = a.get(1, "base");
  const Value otherwise = fallback == nullptr ? Value(0) : *fallback;
  require_defined(input);
  if (is_integer(input)) return plus(input);
  double real = 0;
  if (input.is_string()) {
    bool ok = false;
    Value out = parse_integer(input.as_string().bytes(), base == nullptr ? 10 : to_index(*base), &ok);
    if (ok) return out;
    if (!parse_real(input.as_string().bytes(), &real)) return otherwise;
  } else if (input.is_real()) {
    real = input.as_real();
  } else {
    return otherwise;
  }
  if (std::isinf(real)) fail(FailureKind::overflow, "infinity is no integer");
  return std::isnan(real) ? otherwise : from_big(to_big(Value(real)));
}

Value float_filter(const Value& input, const Arguments& a) {
  const Value* fallback = a.get(0, "default");
  const Value otherwise = fallback == nullptr ? Value(0.0) : *fallback;
  require_defined(input);
  if (is_number(input)) return to_double(input);
  double real = 0;
  return input.is_string() && parse_real(input.as_string().bytes(), &real) ? Value(real) : otherwise;
}

Value abs_filter(const Value& input, const Arguments&) {
  require_defined(input);
  if (!is_number(input)) type_error(fmt::format("abs of a {}", type_name(input)));
  if (input.is_real()) return std::fabs(input.as_real());
  return to_big(input).sign() < 0 ? negate(input) : plus(input);
}

// Python's round(v, digits): the nearest decimal, ties to even, correct to the last bit.
double round_decimal(double v, int64_t digits) {
  if (!std::isfinite(v) || digits > 300) return v;
  if (digits < 0) {
    const double scale = std::pow(10.0, static_cast<double>(-digits));
    return std::isinf(scale) ? 0.0 * v : std::nearbyint(v / scale) * scale;
  }
  return std::strtod(fmt::format("{:.{}f}", v, static_cast<int>(digits)).c_str(), nullptr);
}

Value round_integer(const Value& v, int64_t digits) {
  if (digits >= 0) return plus(v);
  if (digits < -1000) return Value(0);
  BigInt scale = 1;
  for (int64_t i = digits; i < 0; ++i) scale *= 10;
  const BigInt value = to_big(v);
  BigInt quotient = value / scale;
  const BigInt twice = abs(BigInt(value - quotient * scale)) * 2;
  if (twice > scale || (twice == scale && bit_test(abs(quotient), 0))) quotient += value.sign() < 0 ? -1 : 1;
  return from_big(BigInt(quotient * scale));
}

Value round_filter(const Value& input, const Arguments& a) {
  const Value* precision = a.get(0, "precision");
  const Value* method = a.get(1, "method");
  const int64_t digits = precision == nullptr ? 0 : to_index(*precision);
  const std::string how = method == nullptr ? "common" : to_text(*method).bytes();
  require_defined(input);
  if (!is_number(input)) type_error(fmt::format("round of a {}", type_name(input)));
  if (how == "common")
    return input.is_real() ? Value(round_decimal(input.as_real(), digits)) : round_integer(input, digits);
  if (how != "ceil" && how != "floor") type_error("round: the method must be common, ceil or floor");
  const double scale = std::pow(10.0, static_cast<double>(digits));
  const double scaled = to_double(input) * scale;
  return (how == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale;
}

Value default_filter(const Value& input, const Arguments& a) {
  const Value* otherwise = a.get(0, "default_value");
  const bool use = input.is_undefined() || (a.get_flag(1, "boolean", false) && !truthy(input));
  if (!use) return input;
  return otherwise == nullptr ? Value::trusted("") : *otherwise;
}

Value length_filter(const Value& input, const Arguments&) {
  return length(input);
}

Value attr_filter(const Value& input, const Arguments& a) {
  const Value* name = a.get(0, "name");
  if (name == nullptr || !name->is_string()) type_error("attr needs a name");
  if (input.is_dict() && !has_method(input, name->as_string().view()))
    return Value::undefined(fmt::format("a dict has no attribute '{}'", name->as_string().bytes()));
  return get_attribute(input, name->as_string().view());
}

struct NamedFilter {
  std::string_view name;
  Filter filter;
};
constexpr NamedFilter kFilters[] = {
    {"int", int_filter},       {"float", float_filter},     {"abs", abs_filter},
    {"round", round_filter},   {"default", default_filter}, {"d", default_filter},
    {"length", length_filter}, {"count", length_filter},    {"attr", attr_filter},
};

}  // namespace

Filter find_number_filter(std::string_view name) {
  for (const NamedFilter& f : kFilters)
    if (f.name == name) return f.filter;
  return nullptr;
}

}  // namespace assay::text::jinja
