#include "text/added_tokens.h"

#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace assay::text {
namespace {

// Start of the code point that ends at `end` > 0, in well-formed text.
size_t previous(std::string_view text, size_t end) {
  size_t pos = end - 1;
  while (pos > 0 && (static_cast<uint8_t>(text[pos]) & 0xC0) == 0x80) --pos;
  return pos;
}

}  // namespace

bool word_before(std::string_view text, size_t pos) {
  return pos > 0 && is_word(decode_at(text, previous(text, pos)).value);
}

bool word_at(std::string_view text, size_t pos) {
  return pos < text.size() && is_word(decode_at(text, pos).value);
}

size_t space_before(std::string_view text, size_t pos) {
  while (pos > 0 && is_white_space(decode_at(text, previous(text, pos)).value)) pos = previous(text, pos);
  return pos;
}

size_t space_after(std::string_view text, size_t pos) {
  while (pos < text.size()) {
    const CodePoint c = decode_at(text, pos);
    if (!is_white_space(c.value)) break;
    pos += c.bytes;
  }
  return pos;
}

int32_t TokenFinder::child(int32_t node, uint8_t byte) const {
  for (const auto& [key, target] : nodes_[static_cast<size_t>(node)].next)
    if (key == byte) return target;
  return -1;
}

void TokenFinder::add(const AddedToken* token, std::string_view form) {
  if (form.empty()) return;
  starts_[static_cast<uint8_t>(form[0])] = true;
  int32_t node = 0;
  for (const char c : form) {
    const auto byte = static_cast<uint8_t>(c);
    int32_t next = child(node, byte);
    if (next < 0) {
      next = static_cast<int32_t>(nodes_.size());
      nodes_[static_cast<size_t>(node)].next.emplace_back(byte, next);
      nodes_.emplace_back();
    }
    node = next;
  }
  const AddedToken*& held = nodes_[static_cast<size_t>(node)].token;
  if (held == nullptr) held = token;
}

const AddedToken* TokenFinder::longest_at(std::string_view text, size_t pos, size_t* length) const {
  const AddedToken* found = nullptr;
  int32_t node = 0;
  for (size_t i = pos; i < text.size(); ++i) {
    node = child(node, static_cast<uint8_t>(text[i]));
    if (node < 0) break;
    if (const AddedToken* token = nodes_[static_cast<size_t>(node)].token) {
      found = token;
      *length = i + 1 - pos;
    }
  }
  return found;
}

}  // namespace assay::text
