#pragma once
// DictRep: a dict in insertion order, with Python's idea of equal keys (1, 1.0 and true are one key).
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja/value.h"

namespace assay::text::jinja {

struct DictRep {
  std::vector<std::pair<Value, Value>> entries;
  int depth = 1;

  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  void set(Value key, Value value);  // fails if the key cannot be one (a list)
  bool erase(std::string_view key);

 private:
  void index_all();
  size_t position(const std::string& key) const;  // entries.size() if absent
  std::map<std::string, size_t> index_;           // hash keys; empty while the dict is small
};

// A text that is equal exactly for equal keys.
std::string hash_key(const Value& key);

}  // namespace assay::text::jinja
