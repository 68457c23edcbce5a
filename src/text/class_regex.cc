#include "text/class_regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/check.h"
#include "text/pattern_parser.h"
#include "text/unicode/utf8.h"

namespace assay::text {
namespace {

constexpr size_t kMaxPattern = 16384;         // bytes of a pattern
constexpr uint32_t kMatchLimit = 50'000'000;  // PCRE2 steps for one match
constexpr size_t kJitStack = 1 << 20;         // bytes

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* p) const {
    Free(p);
  }
};
using Code = std::unique_ptr<pcre2_code, Freer<pcre2_code_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freer<pcre2_match_data_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Freer<pcre2_match_context_free>>;
using JitStack = std::unique_ptr<pcre2_jit_stack, Freer<pcre2_jit_stack_free>>;

// Code point -> symbol, in pages of 256 that are shared where equal.
class SymbolTable {
 public:
  // Symbols of code points; those with equal membership in all sets are equal. False if more than 255 are
  // needed.
  bool build(const std::vector<PatternPart>& parts);
  uint8_t of(char32_t c) const { return pages_[index_[c >> 8]][c & 255]; }
  // The symbols of the code points in parts[i].set.
  const std::vector<uint8_t>& symbols_of(size_t i) const { return symbols_[i]; }

 private:
  using Page = std::array<uint8_t, 256>;
  void fill_pages(const std::vector<std::pair<char32_t, uint8_t>>& starts);

  std::vector<uint16_t> index_;
  std::vector<Page> pages_;
  std::vector<std::vector<uint8_t>> symbols_;
};

bool SymbolTable::build(const std::vector<PatternPart>& parts) {
  // Walk over all range edges; between two edges the membership is constant.
  std::vector<std::pair<char32_t, size_t>> edges;  // where membership in parts[second].set flips
  for (size_t i = 0; i < parts.size(); ++i)
    for (const Range& range : parts[i].set) {
      edges.emplace_back(range.first, i);
      edges.emplace_back(range.last + 1, i);
    }
  std::sort(edges.begin(), edges.end());
  std::vector<bool> members(parts.size());
  std::map<std::vector<bool>, uint8_t> known;
  std::vector<std::pair<char32_t, uint8_t>> starts;
  symbols_.resize(parts.size());
  char32_t from = 0;
  for (size_t e = 0; from <= kLastCodePoint;) {
    for (; e < edges.size() && edges[e].first == from; ++e) members[edges[e].second].flip();
    auto found = known.find(members);
    if (found == known.end()) {
      if (known.size() == 255) return false;
      found = known.emplace(members, static_cast<uint8_t>(known.size() + 1)).first;
      for (size_t i = 0; i < parts.size(); ++i)
        if (members[i]) symbols_[i].push_back(found->second);
    }
    starts.emplace_back(from, found->second);
    from = e < edges.size() ? edges[e].first : kLastCodePoint + 1;
  }
  fill_pages(starts);
  return true;
}

void SymbolTable::fill_pages(const std::vector<std::pair<char32_t, uint8_t>>& starts) {
  std::map<Page, uint16_t> known;
  size_t at = 0;
  for (char32_t base = 0; base <= kLastCodePoint; base += 256) {
    Page page;
    for (char32_t i = 0; i < 256; ++i) {
      while (at + 1 < starts.size() && starts[at + 1].first <= base + i) ++at;
      page[i] = starts[at].second;
    }
    const auto [found, is_new] = known.emplace(page, static_cast<uint16_t>(pages_.size()));
    if (is_new) pages_.push_back(page);
    index_.push_back(found->second);
  }
}

std::string symbol_class(const std::vector<uint8_t>& symbols) {
  if (symbols.empty()) return "(?!)";
  std::string out = "[";
  for (const uint8_t s : symbols) out += fmt::format("\\x{:02x}", s);
  return out + "]";
}

// What one thread needs to match; shared by all patterns.
struct Scratch {
  MatchData data{pcre2_match_data_create(1, nullptr)};
  JitStack stack{pcre2_jit_stack_create(32 * 1024, kJitStack, nullptr)};
  MatchContext context{pcre2_match_context_create(nullptr)};
  Scratch() {
    CHECK(data && context, "out of memory");
    pcre2_set_match_limit(context.get(), kMatchLimit);
    if (stack) pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
  }
};

}  // namespace

struct ClassRegex::Impl {
  SymbolTable table;
  Code code;
  bool jit = false;

  static Result<ClassRegex> build(std::vector<PatternPart> parts, std::string_view shown);
};

ClassRegex::ClassRegex(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
ClassRegex::ClassRegex(ClassRegex&&) noexcept = default;
ClassRegex& ClassRegex::operator=(ClassRegex&&) noexcept = default;
ClassRegex::~ClassRegex() = default;

Result<ClassRegex> ClassRegex::Impl::build(std::vector<PatternPart> parts, std::string_view shown) {
  auto impl = std::make_unique<Impl>();
  if (!impl->table.build(parts))
    return Error{fmt::format("pattern '{}' tells too many character classes apart", shown)};
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += parts[i].op.empty() ? symbol_class(impl->table.symbols_of(i)) : parts[i].op;
  int error = 0;
  PCRE2_SIZE where = 0;
  impl->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                 PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_DOTALL, &error, &where, nullptr));
  if (!impl->code) {
    PCRE2_UCHAR message[120] = {};
    pcre2_get_error_message(error, message, sizeof message);
    return Error{fmt::format("pattern '{}' is not a valid expression: {}", shown,
                             reinterpret_cast<const char*>(message))};
  }
  impl->jit = pcre2_jit_compile(impl->code.get(), PCRE2_JIT_COMPLETE) == 0;
  return ClassRegex(std::move(impl));
}

Result<ClassRegex> ClassRegex::compile(std::string_view pattern) {
  if (pattern.empty() || pattern.size() > kMaxPattern)
    return Error{fmt::format("a pattern has 1 to {} bytes, this one {}", kMaxPattern, pattern.size())};
  auto parts = parse_pattern(pattern);
  if (!parts) return parts.error();
  return Impl::build(std::move(*parts), pattern);
}

Result<ClassRegex> ClassRegex::literal(std::string_view text) {
  if (text.empty() || text.size() > kMaxPattern) return Error{"a literal pattern must not be empty or huge"};
  return Impl::build(literal_parts(text), text);
}

void ClassRegex::split(std::string_view text, std::vector<Span>* out) const {
  static thread_local Scratch scratch;
  static thread_local std::string symbols;
  symbols.clear();
  for (size_t pos = 0; pos < text.size();) {
    const uint8_t first = static_cast<uint8_t>(text[pos]);
    const CodePoint c = first < 0x80 ? CodePoint{first, 1, true, false} : decode_at(text, pos);
    symbols.push_back(static_cast<char>(impl_->table.of(c.value)));
    pos += c.bytes;
  }
  const bool ascii = symbols.size() == text.size();
  size_t symbol = 0, byte = 0;  // the same place, counted in symbols and in bytes
  const auto advance = [&](size_t to) {
    if (ascii) {
      symbol = byte = to;
      return byte;
    }
    for (; symbol < to; ++symbol) {
      const uint8_t lead = static_cast<uint8_t>(text[byte]);
      byte += lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    }
    return byte;
  };
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(symbols.data());
  const PCRE2_SIZE* found = pcre2_get_ovector_pointer(scratch.data.get());
  size_t done = 0;  // bytes already in `out`
  for (size_t start = 0; start < symbols.size();) {
    const int rc = impl_->jit ? pcre2_jit_match(impl_->code.get(), subject, symbols.size(), start, 0,
                                                scratch.data.get(), scratch.context.get())
                              : pcre2_match(impl_->code.get(), subject, symbols.size(), start,
                                            PCRE2_NO_UTF_CHECK, scratch.data.get(), scratch.context.get());
    if (rc < 0) break;  // no further match, or PCRE2 gave up
    if (found[1] == found[0]) {
      start = found[1] + 1;
      continue;
    }
    const size_t begin = advance(found[0]);
    if (begin != done) out->push_back({done, begin, false});
    done = advance(found[1]);
    out->push_back({begin, done, true});
    start = found[1];
  }
  if (done < text.size()) out->push_back({done, text.size(), false});
  if (symbols.capacity() > (1 << 20)) symbols = std::string();
}

}  // namespace assay::text
