#include "text/unicode/unicode.h"

#include <algorithm>
#include <iterator>

#include "text/unicode/utf8.h"

namespace assay::text {
namespace {

struct NamedRanges {
  std::string_view name;
  const Range* ranges;
  size_t count;
};
struct CasePair {
  char32_t from, to;
};
struct CaseTriple {
  char32_t from;
  char32_t to[3];  // padded with zeros
};

#include "text/unicode/unicode_tables.inc"

constexpr std::string_view kCategoryNames[] = {"Cn", "Cc", "Cf", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu",
                                               "Mc", "Me", "Mn", "Nd", "Nl", "No", "Pc", "Pd", "Pe", "Pf",
                                               "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs"};
constexpr Range kWhiteSpace[] = {{0x9, 0xD},       {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},
                                 {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                                 {0x205F, 0x205F}, {0x3000, 0x3000}};

template <class T>
const T* find_case(std::span<const T> table, char32_t c) {
  const auto at = std::lower_bound(table.begin(), table.end(), c,
                                   [](const T& entry, char32_t value) { return entry.from < value; });
  return at != table.end() && at->from == c ? &*at : nullptr;
}

bool map_case(std::string* out, char32_t c, std::span<const CasePair> one, std::span<const CaseTriple> many) {
  if (const CasePair* pair = find_case(one, c)) {
    append_utf8(out, pair->to);
    return true;
  }
  const CaseTriple* triple = find_case(many, c);
  if (triple == nullptr) return false;
  for (const char32_t to : triple->to)
    if (to != 0) append_utf8(out, to);
  return true;
}

bool in_ranges(std::span<const Range> ranges, char32_t c) {
  const auto at = std::lower_bound(ranges.begin(), ranges.end(), c,
                                   [](const Range& range, char32_t value) { return range.last < value; });
  return at != ranges.end() && at->first <= c;
}

char major(char32_t c) {
  return kCategoryNames[static_cast<int>(category(c))][0];
}

}  // namespace

Category category(char32_t c) {
  if (c > kLastCodePoint) return Category::Cn;
  const auto* at = std::upper_bound(std::begin(kCategoryRuns), std::end(kCategoryRuns),
                                    (static_cast<uint32_t>(c) << 5) | 31u);
  return static_cast<Category>(at[-1] & 31u);
}

bool is_letter(char32_t c) {
  return major(c) == 'L';
}
bool is_number(char32_t c) {
  return major(c) == 'N';
}
bool is_upper(char32_t c) {
  return category(c) == Category::Lu || (c >= 0x2160 && c <= 0x216F) || (c >= 0x24B6 && c <= 0x24CF) ||
         (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
}
bool is_lower(char32_t c) {
  return category(c) == Category::Ll || c == 0xAA || c == 0xBA || (c >= 0x2B0 && c <= 0x2B8) ||
         (c >= 0x2170 && c <= 0x217F) || (c >= 0x24D0 && c <= 0x24E9);
}
bool is_white_space(char32_t c) {
  return in_ranges(kWhiteSpace, c);
}
bool is_python_space(char32_t c) {
  return is_white_space(c) || (c >= 0x1C && c <= 0x1F);
}
bool is_printable(char32_t c) {
  return c == ' ' || (major(c) != 'C' && major(c) != 'Z');
}
bool is_word(char32_t c) {
  const char m = major(c);
  const Category k = category(c);
  return m == 'L' || m == 'M' || k == Category::Nd || k == Category::Nl || k == Category::Pc || c == 0x200C ||
         c == 0x200D || (c >= 0x24B6 && c <= 0x24E9) || (is_upper(c) && c >= 0x1F130);
}
bool is_mark_of_unicode9(char32_t c) {
  return major(c) == 'M' && !in_ranges(kMarksAfter9, c);
}
bool is_normalised_after9(char32_t c) {
  return in_ranges(kNormalisedAfter9, c);
}

void append_lower(std::string* out, char32_t c) {
  if (!map_case(out, c, kLower, kLowerMany)) append_utf8(out, c);
}
void append_upper(std::string* out, char32_t c) {
  if (!map_case(out, c, kUpper, kUpperMany)) append_utf8(out, c);
}
void append_title(std::string* out, char32_t c) {
  if (!map_case(out, c, kTitle, kTitleMany)) append_upper(out, c);
}

std::vector<char32_t> cased_code_points() {
  std::vector<char32_t> out;
  for (const auto table : {std::span<const CasePair>(kLower), std::span<const CasePair>(kUpper)})
    for (const CasePair& pair : table) {
      out.push_back(pair.from);
      out.push_back(pair.to);
    }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

CodeSet make_set(CodeSet ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  CodeSet out;
  for (const Range& range : ranges) {
    if (range.first > range.last) continue;
    if (!out.empty() && range.first <= out.back().last + 1)
      out.back().last = std::max(out.back().last, range.last);
    else
      out.push_back(range);
  }
  return out;
}

CodeSet unite(const CodeSet& a, const CodeSet& b) {
  CodeSet all = a;
  all.insert(all.end(), b.begin(), b.end());
  return make_set(std::move(all));
}

CodeSet complement(const CodeSet& a) {
  CodeSet out;
  char32_t next = 0;
  for (const Range& range : a) {
    if (range.first > next) out.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastCodePoint) out.push_back({next, kLastCodePoint});
  return out;
}

CodeSet intersect(const CodeSet& a, const CodeSet& b) {
  return complement(unite(complement(a), complement(b)));
}

bool contains(const CodeSet& set, char32_t c) {
  return in_ranges(set, c);
}

std::optional<CodeSet> property_set(std::string_view name) {
  for (const NamedRanges& script : kScripts)
    if (script.name == name) return CodeSet(script.ranges, script.ranges + script.count);
  CodeSet out;
  const size_t count = std::size(kCategoryRuns);
  for (size_t i = 0; i < count; ++i) {
    const std::string_view found = kCategoryNames[kCategoryRuns[i] & 31u];
    if (found.substr(0, name.size()) != name) continue;
    const char32_t end = i + 1 < count ? kCategoryRuns[i + 1] >> 5 : kLastCodePoint + 1;
    out.push_back({kCategoryRuns[i] >> 5, end - 1});
  }
  if (name.empty() || out.empty()) return std::nullopt;
  return make_set(std::move(out));
}

CodeSet white_space_set() {
  return CodeSet(std::begin(kWhiteSpace), std::end(kWhiteSpace));
}

}  // namespace assay::text
