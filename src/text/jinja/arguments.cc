#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/library.h"

namespace assay::text::jinja {

const Value* Arguments::get(size_t index, std::string_view name) const {
  if (index < positional.size()) return &positional[index];
  for (const auto& [key, value] : named)
    if (key == name) return &value;
  return nullptr;
}

bool Arguments::get_flag(size_t index, std::string_view name, bool otherwise) const {
  const Value* v = get(index, name);
  return v == nullptr ? otherwise : truthy(*v);
}

void Arguments::check(std::string_view function, size_t most,
                      std::initializer_list<std::string_view> names) const {
  if (positional.size() > most) type_error(fmt::format("{} takes at most {} arguments", function, most));
  for (const auto& entry : named)
    if (std::find(names.begin(), names.end(), entry.first) == names.end())
      type_error(fmt::format("{} has no argument '{}'", function, entry.first));
}

Value make_function(std::string name, CallableObject::Body body) {
  return Value(std::make_shared<const CallableObject>(std::move(name), std::move(body)));
}

Value make_generator(std::vector<Value> items) {
  spend_values(items.size());
  return Value(std::make_shared<const GeneratorObject>(std::move(items)));
}

Filter find_filter(std::string_view name) {
  for (const auto find : {find_text_filter, find_sequence_filter, find_number_filter})
    if (const Filter found = find(name)) return found;
  return nullptr;
}

Filter need_filter(std::string_view name) {
  const Filter found = find_filter(name);
  if (found == nullptr) fail(FailureKind::unknown_name, fmt::format("there is no filter '{}'", name));
  return found;
}

Test need_test(std::string_view name) {
  const Test found = find_test(name);
  if (found == nullptr) fail(FailureKind::unknown_name, fmt::format("there is no test '{}'", name));
  return found;
}

}  // namespace assay::text::jinja
