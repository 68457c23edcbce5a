#include "kernels/plan/problem_text.h"

#include <charconv>
#include <set>
#include <vector>

namespace assay::kernels {
namespace {

template <class T>
bool parse_number(std::string_view text, T* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  while (!line.empty()) {
    const size_t space = std::min(line.find(' '), line.size());
    if (space > 0) out.push_back(line.substr(0, space));
    line.remove_prefix(std::min(space + 1, line.size()));
  }
  return out;
}

}  // namespace

std::string field_text(int64_t value) {
  return std::to_string(value);
}
std::string field_text(float value) {
  return fmt::format("{}", value);
}  // shortest text that reads back exactly
std::string field_text(bool value) {
  return value ? "1" : "0";
}
std::string field_text(WeightFormat value) {
  return std::string(name_of(value));
}
std::string field_text(PrecisionClass value) {
  return std::string(name_of(value));
}

bool parse_field(std::string_view text, int64_t* value) {
  return parse_number(text, value) && *value >= 0;
}
bool parse_field(std::string_view text, float* value) {
  return parse_number(text, value);
}
bool parse_field(std::string_view text, bool* value) {
  *value = text == "1";
  return text == "0" || text == "1";
}
bool parse_field(std::string_view text, WeightFormat* value) {
  for (int i = 0; i <= static_cast<int>(WeightFormat::fp8_block); ++i) {
    *value = static_cast<WeightFormat>(i);
    if (name_of(*value) == text) return true;
  }
  return false;
}
bool parse_field(std::string_view text, PrecisionClass* value) {
  const auto found = precision_from_name(text);
  if (found) *value = *found;
  return found.has_value();
}

FieldFound find_field(std::string_view line, std::string_view key) {
  for (std::string_view word : words(line)) {
    if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=') {
      return {true, word.substr(key.size() + 1)};
    }
  }
  return {};
}

std::string_view family_of(std::string_view line) {
  const auto all = words(line);
  return all.empty() ? std::string_view() : all.front();
}

Result<void> check_line(std::string_view line, std::string_view family, size_t fields) {
  const auto all = words(line);
  if (all.empty() || all.front() != family)
    return Error{fmt::format("problem line {:?}: expected family {}", line, family)};
  std::set<std::string_view> keys;
  for (size_t i = 1; i < all.size(); ++i) keys.insert(all[i].substr(0, all[i].find('=')));
  if (all.size() - 1 == fields && keys.size() == fields) return {};
  return Error{fmt::format("problem line {:?}: found {} fields, expected {} of family {}, each once", line,
                           all.size() - 1, fields, family)};
}

}  // namespace assay::kernels
