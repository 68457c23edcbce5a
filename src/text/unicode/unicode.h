#pragma once
// Character data of Unicode 16: categories, scripts, case mappings, white space.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::text {

constexpr char32_t kLastCodePoint = 0x10FFFF;

enum class Category : uint8_t {
  Cn,
  Cc,
  Cf,
  Co,
  Cs,
  Ll,
  Lm,
  Lo,
  Lt,
  Lu,
  Mc,
  Me,
  Mn,
  Nd,
  Nl,
  No,
  Pc,
  Pd,
  Pe,
  Pf,
  Pi,
  Po,
  Ps,
  Sc,
  Sk,
  Sm,
  So,
  Zl,
  Zp,
  Zs,
};

Category category(char32_t c);
bool is_letter(char32_t c);
bool is_number(char32_t c);  // Nd, Nl, No
bool is_upper(char32_t c);   // Lu, and circled and Roman capitals
bool is_lower(char32_t c);
// The White_Space property; Python's str.isspace() also takes U+001C to U+001F.
bool is_white_space(char32_t c);
bool is_python_space(char32_t c);
// Python's str.isprintable().
bool is_printable(char32_t c);
// Letters, marks, decimal digits, connectors and joiners: \w of the tokenizers library's matcher.
bool is_word(char32_t c);
// Combining marks as Unicode 9 knew them.
bool is_mark_of_unicode9(char32_t c);
// True for code points newer than Unicode 9 that normalisation with newer data would change, move or join.
bool is_normalised_after9(char32_t c);

// Full mappings, without context (no final sigma).
void append_lower(std::string* out, char32_t c);
void append_upper(std::string* out, char32_t c);
void append_title(std::string* out, char32_t c);

// Every code point that has, or is, the case mapping of another one. Ascending.
std::vector<char32_t> cased_code_points();

// A set of code points: ascending, disjoint, closed ranges.
struct Range {
  char32_t first, last;
  bool operator==(const Range&) const = default;
};
using CodeSet = std::vector<Range>;
CodeSet make_set(CodeSet ranges);  // sorts and joins
CodeSet unite(const CodeSet& a, const CodeSet& b);
CodeSet complement(const CodeSet& a);
CodeSet intersect(const CodeSet& a, const CodeSet& b);
bool contains(const CodeSet& set, char32_t c);
// By property name as in \p{..}: a category (L, Lu), or a common script (Han). Empty optional if unknown.
std::optional<CodeSet> property_set(std::string_view name);
CodeSet white_space_set();

}  // namespace assay::text
