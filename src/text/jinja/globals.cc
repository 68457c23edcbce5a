// Functions that every chat template finds.
#include <fmt/format.h>

#include "text/jinja/dict.h"
#include "text/jinja/library.h"

namespace assay::text::jinja {
namespace {

constexpr int64_t kMaxRange = 100'000;

Value range_function(const Arguments& a) {
  a.check("range", 3, {});
  if (a.positional.empty()) type_error("range needs an argument");
  const bool one = a.positional.size() == 1;
  const int64_t begin = one ? 0 : to_index(a.positional[0]);
  const int64_t end = to_index(a.positional[one ? 0 : 1]);
  const int64_t step = a.positional.size() == 3 ? to_index(a.positional[2]) : 1;
  if (step == 0) type_error("range: a step of zero");
  const BigInt distance = step > 0 ? BigInt(end) - begin : BigInt(begin) - end;
  if (distance > 0 && (distance - 1) / abs(BigInt(step)) + 1 > kMaxRange)
    fail(FailureKind::overflow, fmt::format("a range of more than {} items", kMaxRange));
  return Value(std::make_shared<const RangeObject>(begin, end, step));
}

// The (key, value) pairs that dict(...) and namespace(...) are given.
std::vector<std::pair<Value, Value>> pairs_of(const Arguments& a) {
  std::vector<std::pair<Value, Value>> out;
  if (a.positional.size() > 1) type_error("at most one positional argument");
  if (!a.positional.empty()) {
    const Value& from = a.positional[0];
    if (from.is_dict()) out = from.entries();
    if (!from.is_dict())
      for (const Value& pair : iterate(from)) {
        const std::vector<Value> both = iterate(pair);
        if (both.size() != 2) type_error("a dict is made of pairs");
        out.emplace_back(both[0], both[1]);
      }
  }
  for (const auto& [key, value] : a.named) out.emplace_back(Value::trusted(key), value);
  return out;
}

Value namespace_function(const Arguments& a) {
  auto space = std::make_shared<SpaceObject>();
  for (const auto& [key, value] : pairs_of(a)) {
    if (!key.is_string()) type_error("the attributes of a namespace have names");
    if (key.as_string().view().starts_with('_'))
      fail(FailureKind::security, "a namespace attribute cannot begin with _");
    space->set(key.as_string().view(), value);
  }
  return Value(std::shared_ptr<const Object>(std::move(space)));
}

Value raise_function(const Arguments& a) {
  if (a.size() != 1) type_error("raise_exception needs a message");
  fail(FailureKind::raised, to_text(a.positional.empty() ? a.named[0].second : a.positional[0]).bytes());
}

Value time_function(const Arguments& a, const std::optional<std::tm>& now) {
  const Value* format = a.get(0, "format");
  if (format == nullptr || !format->is_string()) type_error("strftime_now needs a format");
  std::tm time{};
  if (now) {
    time = *now;
  } else {
    const std::time_t seconds = std::time(nullptr);
    localtime_r(&seconds, &time);
  }
  // The mark tells "no room" from "empty".
  const std::string pattern = format->as_string().bytes() + ".";
  if (pattern.size() > 1000 || pattern.find('\0') != std::string::npos) type_error("this time format");
  std::string out(32768, '\0');
  const size_t size = std::strftime(out.data(), out.size(), pattern.c_str(), &time);
  out.resize(size > 0 ? size - 1 : 0);
  return Value::trusted(std::move(out));
}

Value cycler_function(const Arguments& a) {
  if (a.positional.empty()) type_error("cycler needs values");
  return Value(std::make_shared<const CyclerObject>(a.positional));
}

Value joiner_function(const Arguments& a) {
  const Value* between = a.get(0, "sep");
  const Value separator = between == nullptr ? Value::trusted(", ") : *between;
  auto used = std::make_shared<bool>(false);
  return make_function("joiner", [separator, used](const Arguments&) {
    return std::exchange(*used, true) ? separator : Value::trusted("");
  });
}

}  // namespace

Value find_global(std::string_view name, const std::optional<std::tm>& now) {
  if (name == "range") return make_function("range", range_function);
  if (name == "dict")
    return make_function("dict", [](const Arguments& a) { return Value::dict(pairs_of(a)); });
  if (name == "namespace") return make_function("namespace", namespace_function);
  if (name == "raise_exception") return make_function("raise_exception", raise_function);
  if (name == "strftime_now")
    return make_function("strftime_now", [now](const Arguments& a) { return time_function(a, now); });
  if (name == "cycler") return make_function("cycler", cycler_function);
  if (name == "joiner") return make_function("joiner", joiner_function);
  if (name == "lipsum")
    return make_function("lipsum", [](const Arguments&) -> Value {
      fail(FailureKind::unsupported, "lipsum is not supported in chat templates");
    });
  return Value::undefined(fmt::format("'{}' is undefined", name));
}

}  // namespace assay::text::jinja
