#pragma once
// Problems as text: one line "family key=value key=value ...", printed, parsed and hashed from one list of
// fields.
//
// A problem type P has `static constexpr const char* kFamily` and a template member
//   template <class Self, class Visit> static void visit_fields(Self& self, Visit&& visit)
// that calls visit("name", self.member) for every field. Fields are integers, floats, bools and the enums
// below.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernels/plan/precision.h"
#include "tensor/quant_view.h"

namespace assay::kernels {

// Text of one field value, and back. parse_field returns false when the text is not a value of the type.
std::string field_text(int64_t value);
std::string field_text(float value);
std::string field_text(bool value);
std::string field_text(WeightFormat value);
std::string field_text(PrecisionClass value);
bool parse_field(std::string_view text, int64_t* value);
bool parse_field(std::string_view text, float* value);
bool parse_field(std::string_view text, bool* value);
bool parse_field(std::string_view text, WeightFormat* value);
bool parse_field(std::string_view text, PrecisionClass* value);

// The value of `key` in a problem line, or nullopt-like empty view with found = false.
struct FieldFound {
  bool found = false;
  std::string_view text;
};
FieldFound find_field(std::string_view line, std::string_view key);
std::string_view family_of(std::string_view line);  // the first word
// An error unless the line has exactly `fields` key=value pairs after the family, each key once.
Result<void> check_line(std::string_view line, std::string_view family, size_t fields);

template <class Problem>
std::string to_string(const Problem& problem) requires requires {
  Problem::kFamily;
}
{
  std::string line = Problem::kFamily;
  Problem::visit_fields(problem, [&](const char* name, const auto& value) {
    line += fmt::format(" {}={}", name, field_text(value));
  });
  return line;
}

template <class Problem>
Result<Problem> parse_problem(std::string_view line) {
  Problem problem;
  size_t fields = 0;
  std::string wrong;
  Problem::visit_fields(problem, [&](const char* name, auto& value) {
    ++fields;
    const FieldFound field = find_field(line, name);
    if (!field.found)
      wrong += fmt::format("; {} is missing", name);
    else if (!parse_field(field.text, &value))
      wrong += fmt::format("; {}={} is not a value", name, field.text);
  });
  if (!wrong.empty()) return Error{fmt::format("problem line {:?}{}", line, wrong)};
  if (auto checked = check_line(line, Problem::kFamily, fields); !checked) return checked.error();
  return problem;
}

}  // namespace assay::kernels
