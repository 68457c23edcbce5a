#pragma once
// Tokenizer: text to token ids and back, from a Hugging Face tokenizer.json with a byte-level BPE model.
// What the file asks for and this class cannot do is refused at load, with the name of the part.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/jinja/string.h"

namespace assay::text {

// Which added tokens (control tokens, tags) are recognised inside a text.
// `all` is for text written by the template, `none` for text written by a user.
enum class AddedTokens { all, non_special, none };

// Immutable after load; every const member may be called from several threads at once.
class Tokenizer {
 public:
  using AddedTokens = text::AddedTokens;

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Reads a tokenizer.json from `path` (a file, or a folder that holds one).
  static Result<Tokenizer> load(const std::string& path);
  static Result<Tokenizer> parse(std::string_view json);

  // Ids of `utf8`; no BOS or EOS is added. Malformed bytes count as U+FFFD, one for each maximal subpart.
  std::vector<int32_t> encode(std::string_view utf8, AddedTokens mode) const;
  // For prompts made of template and request text: all added tokens are recognised, but one that touches a
  // byte of `user` (ascending ranges) is taken only if `allow` says so. Its text is encoded as plain text
  // otherwise.
  using AllowToken = std::function<bool(std::string_view content, bool special)>;
  std::vector<int32_t> encode_guarded(std::string_view utf8, std::span<const jinja::ByteRange> user,
                                      const AllowToken& allow) const;

  // The text of `ids`. Unknown ids give nothing; bytes that form no character give U+FFFD.
  std::string decode(std::span<const int32_t> ids, bool skip_special) const;
  // The bytes one id stands for, not necessarily whole characters; empty for an unknown id.
  std::string_view token_bytes(int32_t id) const;

  // Exact content to id: added tokens only, and added tokens or vocabulary entries (in the file's byte
  // alphabet).
  std::optional<int32_t> added_token_id(std::string_view content) const;
  std::optional<int32_t> token_id(std::string_view content) const;
  bool is_special(int32_t id) const;
  bool is_added(int32_t id) const;
  // 1 + the largest id. Rows of lm_head from here on are padding.
  int32_t size() const;

  struct Impl;  // tokenizer_impl.h

 private:
  friend class TokenizerReader;
  explicit Tokenizer(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace assay::text
