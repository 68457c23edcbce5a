#pragma once
// What templates find ready-made: filters, tests, methods, attributes and global functions.
#include <ctime>
#include <optional>
#include <string_view>

#include "text/jinja/object.h"
#include "text/jinja/operations.h"

namespace assay::text::jinja {

using Filter = Value (*)(const Value& input, const Arguments& arguments);
using Test = bool (*)(const Value& input, const Arguments& arguments);

// By name; null if there is none.
Filter find_filter(std::string_view name);
Test find_test(std::string_view name);
// The same; fails with unknown_name.
Filter need_filter(std::string_view name);
Test need_test(std::string_view name);

// x.name and x[key] of a sandboxed Jinja: attribute first or item first, undefined if there is neither.
Value get_attribute(const Value& object, std::string_view name);
Value get_item(const Value& object, const Value& key);
// x[begin:end:step]; none where absent.
Value get_slice(const Value& object, const Value& begin, const Value& end, const Value& step);

// Methods of str, list and dict. find_method: does the type have it (forbidden ones included)?
bool has_method(const Value& object, std::string_view name);
Value call_method(const Value& object, std::string_view name, const Arguments& arguments);
bool has_string_method(std::string_view name);
Value call_string_method(const String& text, std::string_view name, const Arguments& arguments);
// True for Python methods that no template was seen to use and this engine does not have: refused at load.
bool is_refused_method(std::string_view name);

// Pieces shared by methods and filters.
String strip(const String& text, const Value* characters, bool left, bool right);
String replace_all(const String& text, const String& from, const String& to, int64_t limit);
String map_case(const String& text, bool upper);
String capitalize(const String& text);
String title_case(const String& text);
std::string printf_format(const Value& format, const Value& arguments);
std::vector<String> split_lines(const String& text);

// Filters by theme; each returns null for a name it does not know.
Filter find_text_filter(std::string_view name);
Filter find_number_filter(std::string_view name);
Filter find_sequence_filter(std::string_view name);

// Global functions; `now` stands for the clock where given. Undefined for an unknown name.
Value find_global(std::string_view name, const std::optional<std::tm>& now);

}  // namespace assay::text::jinja
