// Numbers as Python has them: integers of any size, doubles, bool as an integer; and + and * of sequences.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "text/jinja/library.h"
#include "text/jinja/operations.h"

namespace assay::text::jinja {
namespace {

constexpr unsigned kMaxBits = 16384;  // of an integer

[[noreturn]] void cannot(std::string_view op, const Value& a, const Value& b) {
  type_error(fmt::format("'{}' is not possible between {} and {}", op, type_name(a), type_name(b)));
}

[[noreturn]] void division_by_zero() {
  fail(FailureKind::zero_division, "division by zero");
}

int64_t small_of(const Value& v) {
  return v.is_bool() ? v.as_bool() : v.as_int();
}
bool is_small(const Value& v) {
  return v.is_bool() || v.is_int();
}

// Rounds towards minus infinity, as Python does.
void floor_divide(const BigInt& a, const BigInt& b, BigInt* quotient, BigInt* remainder) {
  boost::multiprecision::divide_qr(a, b, *quotient, *remainder);
  if (!remainder->is_zero() && (remainder->sign() < 0) != (b.sign() < 0)) {
    --*quotient;
    *remainder += b;
  }
}

Value power(const Value& a, const Value& b) {
  if (!is_integer(a) || !is_integer(b) || to_big(b).sign() < 0) {
    const double base = to_double(a), exponent = to_double(b);
    if (base == 0 && exponent < 0) division_by_zero();
    const double out = std::pow(base, exponent);
    if (std::isnan(out) && !std::isnan(base) && !std::isnan(exponent)) type_error("a complex number");
    if (std::isinf(out) && std::isfinite(base) && std::isfinite(exponent))
      fail(FailureKind::overflow, "the result of ** is too large");
    return out;
  }
  const BigInt base = to_big(a), exponent = to_big(b);
  if (abs(base) > 1 && exponent * (msb(abs(base)) + 1) > kMaxBits)
    fail(FailureKind::budget, "the result of ** is too large");
  if (abs(base) <= 1)
    return base.sign() < 0 && bit_test(exponent, 0) ? Value(-1)
           : base.is_zero() && !exponent.is_zero()  ? Value(0)
                                                    : Value(1);
  return from_big(pow(base, static_cast<unsigned>(exponent)));
}

Value integer_arithmetic(std::string_view op, const Value& a, const Value& b) {
  if (is_small(a) && is_small(b)) {
    const int64_t x = small_of(a), y = small_of(b);
    int64_t out = 0;
    if (op == "+" && !__builtin_add_overflow(x, y, &out)) return out;
    if (op == "-" && !__builtin_sub_overflow(x, y, &out)) return out;
    if (op == "*" && !__builtin_mul_overflow(x, y, &out)) return out;
  }
  const BigInt x = to_big(a), y = to_big(b);
  if (op == "+") return from_big(x + y);
  if (op == "-") return from_big(x - y);
  if (op == "*") return from_big(x * y);
  if (y.is_zero()) division_by_zero();
  if (op == "/") return to_double(a) / to_double(b);
  BigInt quotient, remainder;
  floor_divide(x, y, &quotient, &remainder);
  return from_big(op == "//" ? quotient : remainder);
}

Value real_arithmetic(std::string_view op, double x, double y) {
  if (op == "+") return x + y;
  if (op == "-") return x - y;
  if (op == "*") return x * y;
  if (y == 0) division_by_zero();
  if (op == "/") return x / y;
  double remainder = std::fmod(x, y);
  if (remainder != 0 && (remainder < 0) != (y < 0)) remainder += y;
  if (op == "%") return remainder == 0 ? std::copysign(0.0, y) : remainder;
  const double quotient = (x - remainder) / y;
  return quotient == 0 ? std::copysign(0.0, x / y) : std::floor(quotient + 0.5);
}

Value repeat(const Value& sequence, const Value& times) {
  const int64_t count = std::max<int64_t>(to_index(times), 0);
  if (sequence.is_string()) {
    const String& text = sequence.as_string();
    if (count > 0 && !text.empty())
      spend_bytes(static_cast<uint64_t>(count) > SIZE_MAX / text.size()
                      ? SIZE_MAX
                      : text.size() * static_cast<size_t>(count));
    String out;
    if (!text.empty())
      for (int64_t i = 0; i < count; ++i) out.append(text);
    return Value(std::move(out));
  }
  constexpr int64_t kMaxItems = 1'000'000;
  if (sequence.size() > 0 && count > kMaxItems / static_cast<int64_t>(sequence.size()))
    fail(FailureKind::budget, "a list of that length");
  spend_values(sequence.size() * static_cast<size_t>(count));
  std::vector<Value> out;
  if (sequence.size() > 0)
    for (int64_t i = 0; i < count; ++i)
      out.insert(out.end(), sequence.items().begin(), sequence.items().end());
  return sequence.is_tuple() ? Value::tuple(std::move(out)) : Value::list(std::move(out));
}

Value add_sequences(const Value& a, const Value& b) {
  if (a.is_string() && b.is_string()) {
    spend_bytes(a.as_string().size() + b.as_string().size());
    // Marked text escapes what it is joined with.
    const bool markup = a.as_string().markup || b.as_string().markup;
    const auto part = [&](const Value& v) {
      return markup && !v.as_string().markup ? need_filter("escape")(v, {}).as_string() : v.as_string();
    };
    String out = part(a);
    out.append(part(b));
    out.markup = markup;
    return Value(std::move(out));
  }
  if (!a.is_sequence() || !b.is_sequence() || a.is_tuple() != b.is_tuple()) cannot("+", a, b);
  spend_values(a.size() + b.size());
  std::vector<Value> out = a.items();
  out.insert(out.end(), b.items().begin(), b.items().end());
  return a.is_tuple() ? Value::tuple(std::move(out)) : Value::list(std::move(out));
}

}  // namespace

bool is_integer(const Value& v) {
  return v.is_bool() || v.is_int() || as_big(v);
}
bool is_number(const Value& v) {
  return is_integer(v) || v.is_real();
}

BigInt to_big(const Value& v) {
  if (const BigObject* big = as_big(v)) return big->value;
  if (v.is_real()) {
    if (!std::isfinite(v.as_real())) fail(FailureKind::overflow, "infinity or NaN is no integer");
    return BigInt(std::trunc(v.as_real()));
  }
  return BigInt(small_of(v));
}

Value from_big(const BigInt& v) {
  if (v >= std::numeric_limits<int64_t>::min() && v <= std::numeric_limits<int64_t>::max())
    return static_cast<int64_t>(v);
  if (msb(abs(v)) > kMaxBits) fail(FailureKind::budget, "an integer of so many digits");
  return Value(std::make_shared<const BigObject>(v));
}

double to_double(const Value& v) {
  if (v.is_real()) return v.as_real();
  if (is_small(v)) return static_cast<double>(small_of(v));
  // Boost's conversion ends the process when it rounds past the largest double: halve first, keeping a sticky
  // bit.
  const BigInt big = to_big(v), magnitude = abs(big);
  if (msb(magnitude) > 1023) fail(FailureKind::overflow, "an integer too large for a float");
  const auto half = static_cast<double>(BigInt((magnitude >> 1) | (magnitude & 1)));
  const double out = big < 0 ? -2 * half : 2 * half;
  if (!std::isfinite(out)) fail(FailureKind::overflow, "an integer too large for a float");
  return out;
}

int64_t to_index(const Value& v) {
  if (is_small(v)) return small_of(v);
  if (const BigObject* big = as_big(v))
    return big->value.sign() < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  if (v.is_forbidden()) require_defined(v);
  type_error(fmt::format("an integer is needed, not {}", type_name(v)));
}

Value arithmetic(std::string_view op, const Value& a, const Value& b) {
  require_defined(a);
  require_defined(b);
  if (is_number(a) && is_number(b)) {
    if (op == "**") return power(a, b);
    if (is_integer(a) && is_integer(b)) return integer_arithmetic(op, a, b);
    return real_arithmetic(op, to_double(a), to_double(b));
  }
  if (op == "%" && a.is_string()) {
    const bool user = a.as_string().has_user() || !is_number(b);
    std::string out = printf_format(a, b);
    return user ? Value(String::user(std::move(out))) : Value::trusted(std::move(out));
  }
  const auto is_text_or_list = [](const Value& v) { return v.is_string() || v.is_sequence(); };
  if (op == "+" && is_text_or_list(a)) return add_sequences(a, b);
  if (op == "*" && is_text_or_list(a) && is_integer(b)) return repeat(a, b);
  if (op == "*" && is_text_or_list(b) && is_integer(a)) return repeat(b, a);
  cannot(op, a, b);
}

Value negate(const Value& v) {
  require_defined(v);
  if (v.is_real()) return -v.as_real();
  if (!is_integer(v)) type_error(fmt::format("a {} has no negative", type_name(v)));
  return integer_arithmetic("-", Value(0), v);
}

Value plus(const Value& v) {
  require_defined(v);
  if (!is_number(v)) type_error(fmt::format("unary + is not possible on {}", type_name(v)));
  return v.is_bool() ? Value(int64_t{v.as_bool()}) : v;
}

}  // namespace assay::text::jinja
