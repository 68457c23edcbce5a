#pragma once
// What Python's operators and conversions do to values. Each fails (Failure) where Python raises.
#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/failure.h"
#include "text/jinja/object.h"
#include "text/jinja/value.h"

namespace assay::text::jinja {

bool truthy(const Value& v);
std::string_view type_name(const Value& v);  // as Python prints it: 'int', 'NoneType'
// Fails with "'x' is undefined" if it is.
void require_defined(const Value& v);

bool equals(const Value& a, const Value& b);
// For <, sorting, min, max: numbers with numbers, strings with strings, sequences with sequences.
// `op` is shown in the error.
std::partial_ordering compare(const Value& a, const Value& b, std::string_view op = "<");
bool contains(const Value& container, const Value& item);

// The elements that a for loop would see; undefined has none. A generator is used up.
std::vector<Value> iterate(const Value& v);
bool is_iterable(const Value& v);
int64_t length(const Value& v);

// `op` is the operator's text: + - * / // % **
Value arithmetic(std::string_view op, const Value& a, const Value& b);
Value negate(const Value& v);
Value plus(const Value& v);

// Numbers. bool counts as an integer; is_number is false for anything else.
bool is_number(const Value& v);
bool is_integer(const Value& v);
BigInt to_big(const Value& v);
Value from_big(const BigInt& v);  // an integer value, big only if it must be
double to_double(const Value& v);
int64_t to_index(const Value& v);  // an integer argument; clamped to int64

// str(v) and repr(v); the user marks travel along.
String to_text(const Value& v);
String repr(const Value& v);
std::string real_repr(double v);

// Characters of well-formed text: byte offset of the code point number `index`, at most text.size().
size_t byte_offset(std::string_view text, int64_t index);
std::vector<Value> characters(const String& text);

}  // namespace assay::text::jinja
