#pragma once
// AddedTokens table: finds control tokens and tags inside a text, leftmost first, the longest of those.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::text {

struct AddedToken {
  std::string content;
  int32_t id = 0;
  bool special = false;
  bool normalized = false;   // looked for after normalisation, in its own normalised form
  bool lstrip = false;       // takes the white space before it along
  bool rstrip = false;       // ... and after it
  bool single_word = false;  // only where no word character is next to it
};

struct TokenMatch {
  const AddedToken* token;
  size_t begin, end;  // bytes of the text, stripped white space included
};

class TokenFinder {
 public:
  // `form`: what is looked for in the text (the token's content, normalised if need be). `token` must stay
  // alive.
  void add(const AddedToken* token, std::string_view form);

  // Calls visit(match) for the tokens found. accept(token) may turn one down; a token that starts at `pos`
  // must end by limit(pos).
  template <class Limit, class Accept, class Visit>
  void find(std::string_view text, Limit limit, Accept accept, Visit visit) const;

 private:
  struct Node {
    std::vector<std::pair<uint8_t, int32_t>> next;
    const AddedToken* token = nullptr;
  };
  int32_t child(int32_t node, uint8_t byte) const;
  // The longest token that starts at `pos`.
  const AddedToken* longest_at(std::string_view text, size_t pos, size_t* length) const;
  bool starts_[256] = {};
  std::vector<Node> nodes_{Node()};
};

// True if a word character ends before / starts at `pos`.
bool word_before(std::string_view text, size_t pos);
bool word_at(std::string_view text, size_t pos);
// Where the white space that ends at / starts at `pos` begins / ends.
size_t space_before(std::string_view text, size_t pos);
size_t space_after(std::string_view text, size_t pos);

template <class Limit, class Accept, class Visit>
void TokenFinder::find(std::string_view text, Limit limit, Accept accept, Visit visit) const {
  size_t taken = 0;  // everything before belongs to a match
  for (size_t pos = 0; pos < text.size();) {
    size_t length = 0;
    const AddedToken* token = nullptr;
    if (starts_[static_cast<uint8_t>(text[pos])])
      token = longest_at(text.substr(0, limit(pos)), pos, &length);
    if (token == nullptr) {
      ++pos;
      continue;
    }
    size_t begin = pos, end = pos + length;
    pos = end;
    if (!accept(*token)) continue;
    if (token->single_word && (word_before(text, begin) || word_at(text, end))) continue;
    if (begin < taken) continue;  // the white space of the match before reaches into this one
    if (token->lstrip) begin = std::max(space_before(text, begin), taken);
    if (token->rstrip) end = space_after(text, end);
    visit(TokenMatch{token, begin, end});
    taken = end;
  }
}

}  // namespace assay::text
