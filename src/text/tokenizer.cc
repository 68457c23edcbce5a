#include "text/tokenizer.h"

#include <algorithm>

#include "text/tokenizer_impl.h"
#include "text/unicode/utf8.h"

namespace assay::text {
namespace {

using jinja::ByteRange;

bool touches(std::span<const ByteRange> ranges, size_t begin, size_t end) {
  const auto at = std::lower_bound(ranges.begin(), ranges.end(), begin,
                                   [](const ByteRange& range, size_t value) { return range.end <= value; });
  return at != ranges.end() && at->begin < end;
}

// The first beginning or end of a range behind `pos`.
size_t next_edge(std::span<const ByteRange> ranges, size_t pos) {
  const auto at = std::lower_bound(ranges.begin(), ranges.end(), pos,
                                   [](const ByteRange& range, size_t value) { return range.end <= value; });
  if (at == ranges.end()) return std::string::npos;
  return at->begin > pos ? at->begin : at->end;
}

}  // namespace

// One call of encode: which added tokens count, and where the ids go.
class Encoding {
 public:
  Encoding(const Tokenizer::Impl& parts, AddedTokens mode, std::span<const ByteRange> user,
           const Tokenizer::AllowToken* allow, std::vector<int32_t>* out)
      : parts_(parts), mode_(mode), user_(user), allow_(allow), out_(out) {}

  void text(std::string_view text);

 private:
  // Cuts the tokens out of `text`; what lies between goes to rest(part, its offset). `text` starts at byte
  // `offset` of the text that `user` counts in. No token reaches over an end of a user range: neither can the
  // user complete a token of the template, nor make one vanish.
  template <class Rest>
  void cut(const TokenFinder& finder, std::string_view text, std::span<const ByteRange> user, size_t offset,
           Rest rest) {
    size_t done = 0;
    const auto limit = [&](size_t pos) {
      return std::min(text.size(), next_edge(user, offset + pos) - offset);
    };
    const auto accept = [this](const AddedToken& t) { return mode_ == AddedTokens::all || !t.special; };
    finder.find(text, limit, accept, [&](const TokenMatch& match) {
      rest(text.substr(done, match.begin - done), offset + done);
      if (is_allowed(*match.token, user, offset + match.begin, offset + match.end))
        out_->push_back(match.token->id);
      else
        plain(text.substr(match.begin, match.end - match.begin));
      done = match.end;
    });
    rest(text.substr(done), offset + done);
  }

  bool is_allowed(const AddedToken& token, std::span<const ByteRange> user, size_t begin, size_t end) const {
    return !touches(user, begin, end) || (allow_ != nullptr && (*allow_)(token.content, token.special));
  }

  // Text between the tokens that are looked for before normalisation; it starts at `offset`.
  void stretch(std::string_view text, size_t offset) {
    if (text.empty()) return;
    if (parts_.normalizer.leaves_alone(text)) return normalized(text, user_, offset);
    const std::string changed = parts_.normalizer.apply(text);
    normalized(changed, map_user(text, offset, changed), 0);
  }

  // Where the user ranges lie in the normalised text: stretch by stretch, or everywhere if that does not add
  // up.
  std::vector<ByteRange> map_user(std::string_view text, size_t offset, std::string_view changed) const {
    std::vector<ByteRange> mapped;
    if (!touches(user_, offset, offset + text.size())) return mapped;
    std::string joined;
    size_t done = 0;
    const auto pass = [&](size_t until) {
      joined += parts_.normalizer.apply(text.substr(done, until - done));
      done = until;
      return joined.size();
    };
    for (const ByteRange& range : user_) {
      if (range.end <= offset || range.begin >= offset + text.size()) continue;
      const size_t begin = pass(std::max(range.begin, offset) - offset);
      mapped.push_back({begin, pass(std::min(range.end, offset + text.size()) - offset)});
    }
    pass(text.size());
    if (joined != changed) return {{0, changed.size()}};
    return mapped;
  }

  void normalized(std::string_view text, std::span<const ByteRange> user, size_t offset) {
    if (mode_ == AddedTokens::none) return plain(text);
    cut(parts_.normalized_tokens, text, user, offset, [this](std::string_view part, size_t) { plain(part); });
  }

  void plain(std::string_view text) {
    parts_.pretokenizer.split(text, [this](std::string_view piece) { parts_.bpe.encode(piece, out_); });
  }

  const Tokenizer::Impl& parts_;
  AddedTokens mode_;
  std::span<const ByteRange> user_;
  const Tokenizer::AllowToken* allow_;
  std::vector<int32_t>* out_;
};

void Encoding::text(std::string_view text) {
  if (mode_ == AddedTokens::none) return stretch(text, 0);
  cut(parts_.raw_tokens, text, user_, 0,
      [this](std::string_view part, size_t offset) { stretch(part, offset); });
}

Tokenizer::Tokenizer(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::vector<int32_t> Tokenizer::encode(std::string_view utf8, AddedTokens mode) const {
  std::vector<int32_t> ids;
  std::string mended;
  if (!is_valid_utf8(utf8)) utf8 = mended = to_valid_utf8(utf8);
  Encoding(*impl_, mode, {}, nullptr, &ids).text(utf8);
  return ids;
}

std::vector<int32_t> Tokenizer::encode_guarded(std::string_view utf8, std::span<const ByteRange> user,
                                               const AllowToken& allow) const {
  std::vector<int32_t> ids;
  if (!is_valid_utf8(utf8)) {
    // Offsets would no longer fit: everything counts as user text.
    const std::string mended = to_valid_utf8(utf8);
    const ByteRange all{0, mended.size()};
    Encoding(*impl_, AddedTokens::all, {&all, 1}, nullptr, &ids).text(mended);
  } else {
    Encoding(*impl_, AddedTokens::all, user, &allow, &ids).text(utf8);
  }
  return ids;
}

std::string_view Tokenizer::token_bytes(int32_t id) const {
  const std::string_view bytes = impl_->bpe.bytes_of(id);
  if (!bytes.empty()) return bytes;
  const auto found = impl_->added_bytes.find(id);
  return found == impl_->added_bytes.end() ? std::string_view() : found->second;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  std::string bytes;
  for (const int32_t id : ids)
    if (!skip_special || !is_special(id)) bytes += token_bytes(id);
  return to_valid_utf8(bytes);
}

std::optional<int32_t> Tokenizer::added_token_id(std::string_view content) const {
  const auto found = impl_->added_ids.find(content);
  return found == impl_->added_ids.end() ? std::nullopt : std::optional(found->second);
}

std::optional<int32_t> Tokenizer::token_id(std::string_view content) const {
  if (const auto id = added_token_id(content)) return id;
  return impl_->bpe.find(content);
}

bool Tokenizer::is_special(int32_t id) const {
  return id >= 0 && id < impl_->size && impl_->special[static_cast<size_t>(id)];
}
bool Tokenizer::is_added(int32_t id) const {
  return id >= 0 && id < impl_->size && impl_->is_added[static_cast<size_t>(id)];
}
int32_t Tokenizer::size() const {
  return impl_->size;
}

}  // namespace assay::text
