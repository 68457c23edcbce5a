// Filters over sequences and dicts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "text/jinja/dict.h"
#include "text/jinja/library.h"

namespace assay::text::jinja {
namespace {

// "a.b.0": item a, of that item b, of that item 0.
Value walk(Value item, const Value& attribute, const Value* otherwise) {
  if (!attribute.is_string()) return get_item(item, attribute);
  const std::string& path = attribute.as_string().bytes();
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    const bool number =
        !part.empty() && part.size() < 10 && part.find_first_not_of("0123456789") == std::string::npos;
    item = get_item(item, number ? Value(std::stoi(part)) : Value::trusted(part));
    if (item.is_undefined() && otherwise != nullptr && !otherwise->is_none()) item = *otherwise;
    begin = end + 1;
  }
  return item;
}

Value fold_case(const Value& v, bool case_sensitive) {
  return v.is_string() && !case_sensitive ? Value(map_case(v.as_string(), false)) : v;
}

// What sort, unique, min and max compare: the attributes of an item ("a,b" gives two), without case.
Value sort_key(const Value& item, const Value* attribute, bool case_sensitive) {
  if (attribute == nullptr || attribute->is_none()) return fold_case(item, case_sensitive);
  if (!attribute->is_string()) return fold_case(walk(item, *attribute, nullptr), case_sensitive);
  std::vector<Value> parts;
  const std::string& names = attribute->as_string().bytes();
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    parts.push_back(
        fold_case(walk(item, Value::trusted(names.substr(begin, end - begin)), nullptr), case_sensitive));
    begin = end + 1;
  }
  return parts.size() == 1 ? parts[0] : Value::list(std::move(parts));
}

using Keyed = std::pair<Value, Value>;  // key, item

std::vector<Keyed> with_keys(const Value& input, const Value* attribute, bool case_sensitive) {
  std::vector<Keyed> out;
  for (Value& item : iterate(input)) {
    Value key = sort_key(item, attribute, case_sensitive);
    out.emplace_back(std::move(key), std::move(item));
  }
  return out;
}

void sort_keyed(std::vector<Keyed>* items, bool reverse) {
  // Undefined keys fail before std::sort sees an order that is none.
  for (size_t i = 1; i < items->size(); ++i) compare((*items)[i - 1].first, (*items)[i].first);
  std::stable_sort(items->begin(), items->end(), [&](const Keyed& a, const Keyed& b) {
    return reverse ? compare(b.first, a.first) < 0 : compare(a.first, b.first) < 0;
  });
}

Value sort_filter(const Value& input, const Arguments& a) {
  a.check("sort", 3, {"reverse", "case_sensitive", "attribute"});
  std::vector<Keyed> items = with_keys(input, a.get(2, "attribute"), a.get_flag(1, "case_sensitive", false));
  sort_keyed(&items, a.get_flag(0, "reverse", false));
  std::vector<Value> out;
  for (Keyed& item : items) out.push_back(std::move(item.second));
  return Value::list(std::move(out));
}

Value dictsort_filter(const Value& input, const Arguments& a) {
  a.check("dictsort", 3, {"case_sensitive", "by", "reverse"});
  if (!input.is_dict()) type_error(fmt::format("dictsort needs a dict, not {}", type_name(input)));
  const Value* by = a.get(1, "by");
  const std::string which = by == nullptr ? "key" : to_text(*by).bytes();
  if (which != "key" && which != "value") type_error("dictsort: by must be 'key' or 'value'");
  std::vector<Keyed> items;
  for (const auto& [key, value] : input.entries())
    items.emplace_back(fold_case(which == "key" ? key : value, a.get_flag(0, "case_sensitive", false)),
                       Value::tuple({key, value}));
  sort_keyed(&items, a.get_flag(2, "reverse", false));
  std::vector<Value> out;
  for (Keyed& item : items) out.push_back(std::move(item.second));
  return Value::list(std::move(out));
}

Value extreme(const Value& input, const Arguments& a, bool largest) {
  std::vector<Keyed> items = with_keys(input, a.get(1, "attribute"), a.get_flag(0, "case_sensitive", false));
  if (items.empty()) return Value::undefined("there is no smallest or largest item of nothing");
  size_t best = 0;
  for (size_t i = 1; i < items.size(); ++i) {
    const auto order = compare(items[i].first, items[best].first);
    if (largest ? order > 0 : order < 0) best = i;
  }
  return items[best].second;
}

Value unique_filter(const Value& input, const Arguments& a) {
  std::set<std::string> seen;
  std::vector<Value> out;
  for (Keyed& item : with_keys(input, a.get(1, "attribute"), a.get_flag(0, "case_sensitive", false)))
    if (seen.insert(hash_key(item.first)).second) out.push_back(std::move(item.second));
  return make_generator(std::move(out));
}

Value sum_filter(const Value& input, const Arguments& a) {
  const Value* attribute = a.get(0, "attribute");
  const Value* start = a.get(1, "start");
  Value total = start == nullptr ? Value(0) : *start;
  if (total.is_string()) type_error("sum cannot add strings");
  for (const Value& item : iterate(input))
    total = arithmetic("+", total,
                       attribute == nullptr || attribute->is_none() ? item : walk(item, *attribute, nullptr));
  return total;
}

Value list_filter(const Value& input, const Arguments&) {
  return Value::list(iterate(input));
}

Value first_filter(const Value& input, const Arguments&) {
  std::vector<Value> items = iterate(input);
  return items.empty() ? Value::undefined("there is no first item of nothing") : items.front();
}

Value last_filter(const Value& input, const Arguments&) {
  if (as_generator(input)) type_error("a generator has no last item");
  std::vector<Value> items = iterate(input);
  return items.empty() ? Value::undefined("there is no last item of nothing") : items.back();
}

Value reverse_filter(const Value& input, const Arguments&) {
  std::vector<Value> items = iterate(input);
  std::reverse(items.begin(), items.end());
  if (!input.is_string()) return make_generator(std::move(items));
  String out;
  for (const Value& c : items) out.append(c.as_string());
  return Value(std::move(out));
}

Value items_filter(const Value& input, const Arguments&) {
  if (input.is_undefined()) return make_generator(iterate(input));
  if (!input.is_dict()) type_error(fmt::format("items needs a dict, not {}", type_name(input)));
  std::vector<Value> out;
  for (const auto& [key, value] : input.entries()) out.push_back(Value::tuple({key, value}));
  return make_generator(std::move(out));
}

Value batch_filter(const Value& input, const Arguments& a) {
  const Value* count_value = a.get(0, "linecount");
  const Value* fill = a.get(1, "fill_with");
  if (count_value == nullptr) type_error("batch needs a size");
  const int64_t count = to_index(*count_value);
  std::vector<Value> out, row;
  for (Value& item : iterate(input)) {
    if (static_cast<int64_t>(row.size()) == count) out.push_back(Value::list(std::exchange(row, {})));
    row.push_back(std::move(item));
  }
  if (!row.empty()) {
    if (fill != nullptr && !fill->is_none()) {
      if (count > 100'000) fail(FailureKind::budget, "a batch of that size");
      while (static_cast<int64_t>(row.size()) < count) row.push_back(*fill);
    }
    out.push_back(Value::list(std::move(row)));
  }
  return make_generator(std::move(out));
}

Value slice_filter(const Value& input, const Arguments& a) {
  const Value* count_value = a.get(0, "slices");
  const Value* fill = a.get(1, "fill_with");
  if (count_value == nullptr) type_error("slice needs a count");
  const int64_t slices = to_index(*count_value);
  if (slices == 0) fail(FailureKind::zero_division, "slice into no parts");
  if (slices > 100'000) fail(FailureKind::budget, "so many slices");
  const std::vector<Value> items = iterate(input);
  const auto total = static_cast<int64_t>(items.size());
  std::vector<Value> out;
  int64_t at = 0;
  for (int64_t i = 0; i < slices; ++i) {
    const int64_t size = total / slices + (i < total % slices ? 1 : 0);
    std::vector<Value> part(items.begin() + at, items.begin() + at + size);
    at += size;
    if (fill != nullptr && !fill->is_none() && total % slices != 0 && i >= total % slices)
      part.push_back(*fill);
    out.push_back(Value::list(std::move(part)));
  }
  return make_generator(std::move(out));
}

Value groupby_filter(const Value& input, const Arguments& a) {
  const Value* attribute = a.get(0, "attribute");
  const Value* otherwise = a.get(1, "default");
  if (attribute == nullptr) type_error("groupby needs an attribute");
  const bool case_sensitive = a.get_flag(2, "case_sensitive", false);
  std::vector<Keyed> items;
  for (Value& item : iterate(input)) {
    Value key = walk(item, *attribute, otherwise);
    items.emplace_back(fold_case(key, case_sensitive), std::move(item));
  }
  sort_keyed(&items, false);
  std::vector<Value> out;
  for (size_t i = 0; i < items.size();) {
    std::vector<Value> group;
    const Value key = walk(items[i].second, *attribute, otherwise), folded = items[i].first;
    for (; i < items.size() && equals(items[i].first, folded); ++i) group.push_back(items[i].second);
    out.push_back(Value::tuple({key, Value::list(std::move(group))}));
  }
  return Value::list(std::move(out));
}

Value map_filter(const Value& input, const Arguments& a) {
  std::vector<Value> out;
  const Value* attribute = a.positional.empty() ? a.get(0, "attribute") : nullptr;
  if (attribute != nullptr) {
    a.check("map", 0, {"attribute", "default"});
    for (Value& item : iterate(input)) out.push_back(walk(std::move(item), *attribute, a.get(1, "default")));
    return make_generator(std::move(out));
  }
  if (a.positional.empty() || !a.positional[0].is_string()) type_error("map needs a filter or an attribute");
  const Arguments rest{{a.positional.begin() + 1, a.positional.end()}, a.named};
  for (const Value& item : iterate(input))
    out.push_back(need_filter(a.positional[0].as_string().view())(item, rest));
  return make_generator(std::move(out));
}

// select, reject (by the item) and selectattr, rejectattr (by an attribute of it).
Value choose(const Value& input, const Arguments& a, bool by_attribute, bool wanted) {
  const size_t skip = by_attribute ? 1 : 0;
  if (a.positional.size() < skip) type_error("an attribute is missing");
  const bool has_test = a.positional.size() > skip;
  if (has_test && !a.positional[skip].is_string()) type_error("the name of a test must be a string");
  Arguments rest;
  if (has_test)
    rest = {{a.positional.begin() + static_cast<ptrdiff_t>(skip) + 1, a.positional.end()}, a.named};
  std::vector<Value> out;
  for (Value& item : iterate(input)) {
    const Value subject = by_attribute ? walk(item, a.positional[0], nullptr) : item;
    const bool holds =
        has_test ? need_test(a.positional[skip].as_string().view())(subject, rest) : truthy(subject);
    if (holds == wanted) out.push_back(std::move(item));
  }
  return make_generator(std::move(out));
}

struct NamedFilter {
  std::string_view name;
  Filter filter;
};
constexpr NamedFilter kFilters[] = {
    {"list", list_filter},
    {"first", first_filter},
    {"last", last_filter},
    {"reverse", reverse_filter},
    {"items", items_filter},
    {"map", map_filter},
    {"select", [](const Value& v, const Arguments& a) { return choose(v, a, false, true); }},
    {"reject", [](const Value& v, const Arguments& a) { return choose(v, a, false, false); }},
    {"selectattr", [](const Value& v, const Arguments& a) { return choose(v, a, true, true); }},
    {"rejectattr", [](const Value& v, const Arguments& a) { return choose(v, a, true, false); }},
    {"sort", sort_filter},
    {"dictsort", dictsort_filter},
    {"unique", unique_filter},
    {"sum", sum_filter},
    {"min", [](const Value& v, const Arguments& a) { return extreme(v, a, false); }},
    {"max", [](const Value& v, const Arguments& a) { return extreme(v, a, true); }},
    {"batch", batch_filter},
    {"slice", slice_filter},
    {"groupby", groupby_filter},
};

}  // namespace

Filter find_sequence_filter(std::string_view name) {
  for (const NamedFilter& f : kFilters)
    if (f.name == name) return f.filter;
  return nullptr;
}

}  // namespace assay::text::jinja
