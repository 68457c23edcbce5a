#include "text/jinja/value.h"

#include <algorithm>

#include "base/check.h"
#include "text/jinja/dict.h"
#include "text/jinja/failure.h"
#include "text/jinja/object.h"

namespace assay::text::jinja {
namespace {

constexpr size_t kSmallDict = 12;  // entries; a scan beats an index below

int deeper(int depth) {
  if (depth + 1 > kMaxDepth) fail(FailureKind::budget, "lists and dicts are nested too deep");
  return depth + 1;
}

std::shared_ptr<const ListRep> make_list(std::vector<Value> items, bool tuple) {
  spend_values(items.size());
  auto rep = std::make_shared<ListRep>();
  int depth = 0;
  for (const Value& item : items) depth = std::max(depth, item.depth());
  rep->depth = deeper(depth);
  rep->items = std::move(items);
  rep->tuple = tuple;
  return rep;
}

}  // namespace

Value::Value() : data_(std::monostate()) {}
Value::Value(String value) : data_(std::make_shared<const String>(std::move(value))) {}
Value::Value(std::string value) : Value(String::user(std::move(value))) {}
Value::Value(std::string_view value) : Value(String::user(std::string(value))) {}
Value::Value(const char* value) : Value(String::user(value)) {}

Value Value::trusted(std::string text) {
  return Value(String::trusted(std::move(text)));
}

Value Value::undefined(std::string what) {
  Value out;
  out.data_ = Undefined{std::make_shared<const std::string>(std::move(what)), false};
  return out;
}

Value Value::forbidden(std::string what) {
  Value out;
  out.data_ = Undefined{std::make_shared<const std::string>(std::move(what)), true};
  return out;
}

Value Value::list(std::vector<Value> items) {
  Value out;
  out.data_ = make_list(std::move(items), false);
  return out;
}

Value Value::tuple(std::vector<Value> items) {
  Value out;
  out.data_ = make_list(std::move(items), true);
  return out;
}

Value Value::dict(std::vector<std::pair<Value, Value>> entries) {
  spend_values(2 * entries.size());
  auto rep = std::make_shared<DictRep>();
  for (auto& [key, value] : entries) rep->set(std::move(key), std::move(value));
  Value out;
  out.data_ = std::shared_ptr<const DictRep>(std::move(rep));
  return out;
}

bool Value::is_list() const {
  return is_sequence() && !std::get<6>(data_)->tuple;
}
bool Value::is_tuple() const {
  return is_sequence() && std::get<6>(data_)->tuple;
}
const std::vector<Value>& Value::items() const {
  return std::get<6>(data_)->items;
}
const std::vector<std::pair<Value, Value>>& Value::entries() const {
  return std::get<7>(data_)->entries;
}
const std::string& Value::undefined_message() const {
  return *std::get<0>(data_).what;
}
bool Value::is_forbidden() const {
  return is_undefined() && std::get<0>(data_).forbidden;
}

const Value* Value::find(std::string_view key) const {
  return is_dict() ? std::get<7>(data_)->find(key) : nullptr;
}
const Value* Value::find_key(const Value& key) const {
  return is_dict() ? std::get<7>(data_)->find(key) : nullptr;
}

size_t Value::size() const {
  if (is_sequence()) return items().size();
  return is_dict() ? entries().size() : 0;
}

int Value::depth() const {
  if (is_sequence()) return std::get<6>(data_)->depth;
  if (is_dict()) return std::get<7>(data_)->depth;
  if (const ViewObject* view = as_view(*this)) return view->dict.depth();
  if (const GeneratorObject* generator = as_generator(*this)) {
    int depth = 0;
    for (const Value& item : generator->items) depth = std::max(depth, item.depth());
    return depth + 1;
  }
  return 0;
}

void Value::set(std::string_view key, Value value) {
  CHECK(is_dict() || is_none(), "set() on a value that is no dict");
  if (is_dict() && std::get<7>(data_).use_count() == 1) {
    // The only owner: change in place. The object was made non-const.
    const_cast<DictRep&>(*std::get<7>(data_)).set(Value(key), std::move(value));
    return;
  }
  auto rep = is_dict() ? std::make_shared<DictRep>(*std::get<7>(data_)) : std::make_shared<DictRep>();
  rep->set(Value(key), std::move(value));
  data_ = std::shared_ptr<const DictRep>(std::move(rep));
}

void Value::erase(std::string_view key) {
  if (find(key) == nullptr) return;
  auto rep = std::make_shared<DictRep>(*std::get<7>(data_));
  rep->erase(key);
  data_ = std::shared_ptr<const DictRep>(std::move(rep));
}

void Value::append(Value value) {
  CHECK(is_list() || is_none(), "append() on a value that is no list");
  std::vector<Value> grown;
  if (is_list()) {
    if (std::get<6>(data_).use_count() == 1) {
      auto& rep = const_cast<ListRep&>(*std::get<6>(data_));
      rep.depth = std::max(rep.depth, deeper(value.depth()));
      rep.items.push_back(std::move(value));
      return;
    }
    grown = items();
  }
  grown.push_back(std::move(value));
  data_ = make_list(std::move(grown), false);
}

const Value* DictRep::find(std::string_view key) const {
  if (!index_.empty()) return find(Value::trusted(std::string(key)));
  for (const auto& [name, value] : entries)
    if (name.is_string() && name.as_string().view() == key) return &value;
  return nullptr;
}

const Value* DictRep::find(const Value& key) const {
  if (key.is_string() && index_.empty()) return find(key.as_string().view());
  const size_t at = position(hash_key(key));
  return at == entries.size() ? nullptr : &entries[at].second;
}

size_t DictRep::position(const std::string& key) const {
  if (!index_.empty()) {
    const auto found = index_.find(key);
    return found == index_.end() ? entries.size() : found->second;
  }
  size_t at = 0;
  while (at < entries.size() && hash_key(entries[at].first) != key) ++at;
  return at;
}

void DictRep::set(Value key, Value value) {
  const std::string hash = hash_key(key);
  depth = std::max(depth, deeper(std::max(key.depth(), value.depth())));
  const size_t at = position(hash);
  if (at < entries.size()) {
    entries[at].second = std::move(value);
    return;
  }
  entries.emplace_back(std::move(key), std::move(value));
  if (!index_.empty())
    index_.emplace(hash, at);
  else if (entries.size() > kSmallDict)
    index_all();
}

bool DictRep::erase(std::string_view key) {
  const auto at = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) {
    return entry.first.is_string() && entry.first.as_string().view() == key;
  });
  if (at == entries.end()) return false;
  entries.erase(at);
  index_.clear();
  if (entries.size() > kSmallDict) index_all();
  return true;
}

void DictRep::index_all() {
  for (size_t i = 0; i < entries.size(); ++i) index_.emplace(hash_key(entries[i].first), i);
}

int64_t RangeObject::size() const {
  if (step > 0) return begin < end ? (end - begin - 1) / step + 1 : 0;
  return begin > end ? (begin - end - 1) / -step + 1 : 0;
}

const Value* SpaceObject::find(std::string_view name) const {
  for (const auto& [key, value] : attributes)
    if (key == name) return &value;
  return nullptr;
}

void SpaceObject::set(std::string_view name, Value value) const {
  for (auto& [key, held] : attributes)
    if (key == name) {
      held = std::move(value);
      return;
    }
  attributes.emplace_back(name, std::move(value));
}

}  // namespace assay::text::jinja
