// Reads tokenizer.json. What is not understood is refused by name: a tokenizer that is nearly right is wrong.
#include <fmt/format.h>
#include <simdjson.h>

#include <filesystem>
#include <limits>

#include "text/byte_alphabet.h"
#include "text/tokenizer_impl.h"

namespace assay::text {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kMaxFile = 256u << 20;  // bytes
constexpr int kMaxSequence = 8;          // sequences inside each other
constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

std::string_view text_of(dom::element parent, const char* key) {
  std::string_view value;
  if (parent[key].get(value) != simdjson::SUCCESS) return {};
  return value;
}

bool flag_of(dom::element parent, const char* key, bool otherwise) {
  bool value;
  return parent[key].get(value) == simdjson::SUCCESS ? value : otherwise;
}

// The member, or nothing if it is absent or null.
std::optional<dom::element> member(dom::element parent, const char* key) {
  dom::element value;
  if (parent[key].get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
  return value;
}

}  // namespace

class TokenizerReader {
 public:
  Result<Tokenizer> read(dom::element root) {
    if (!root.is_object()) return Error{"tokenizer.json: expected an object at the top"};
    Result<void> done;
    if (done = model(root); !done) return done.error();
    if (const auto part = member(root, "normalizer"))
      if (done = normalizer(*part, 0); !done) return done.error();
    const auto pre = member(root, "pre_tokenizer");
    if (!pre) return refuse("a tokenizer without a pre_tokenizer");
    if (done = pretokenizer(*pre, 0); !done) return done.error();
    if (!byte_level_) return refuse("a pre_tokenizer without ByteLevel");
    if (done = decoder(root); !done) return done.error();
    if (done = added_tokens(root); !done) return done.error();
    return Tokenizer(std::move(impl_));
  }

 private:
  static Error refuse(std::string_view what) {
    return Error{
        fmt::format("tokenizer.json: {} is not supported; supported are byte-level BPE tokenizers with "
                    "Split, Digits and ByteLevel pre-tokenizers",
                    what)};
  }

  Result<void> model(dom::element root) {
    const auto model = member(root, "model");
    if (!model || !model->is_object()) return Error{"tokenizer.json: no model"};
    const std::string_view type = text_of(*model, "type");
    if (!type.empty() && type != "BPE") return refuse(fmt::format("model type {}", type));
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
      if (!text_of(*model, key).empty()) return refuse(fmt::format("model.{}", key));
    if (member(*model, "dropout")) return refuse("model.dropout");
    if (flag_of(*model, "byte_fallback", false)) return refuse("model.byte_fallback");
    if (auto done = vocabulary(*model); !done) return done;
    if (member(*model, "unk_token") && !has_all_bytes()) return refuse("model.unk_token with bytes missing");
    return merges(*model);
  }

  bool has_all_bytes() const {
    for (int b = 0; b < 256; ++b)
      if (!impl_->bpe.find(to_byte_alphabet(std::string(1, static_cast<char>(b))))) return false;
    return true;
  }

  Result<void> vocabulary(dom::element model) {
    dom::object vocab;
    if (model["vocab"].get(vocab) != simdjson::SUCCESS)
      return Error{"tokenizer.json: model.vocab is not an object"};
    int64_t largest = -1, count = 0;
    for (const auto [content, value] : vocab) {
      int64_t id = -1;
      if (value.get(id) != simdjson::SUCCESS || !impl_->bpe.add_entry(content, id))
        return Error{fmt::format("tokenizer.json: model.vocab['{}'] is not an id from 0 to {}", content,
                                 Bpe::kMaxId - 1)};
      largest = std::max(largest, id);
      ++count;
    }
    if (count == 0) return Error{"tokenizer.json: model.vocab is empty"};
    if (largest > 4 * count + 65536)
      return Error{fmt::format("tokenizer.json: {} entries with ids up to {}: too sparse", count, largest)};
    impl_->bpe.finish_vocabulary();
    return {};
  }

  Result<void> merges(dom::element model) {
    dom::array merges;
    if (model["merges"].get(merges) != simdjson::SUCCESS)
      return Error{"tokenizer.json: model.merges is not a list"};
    size_t index = 0;
    for (const dom::element merge : merges) {
      std::string_view left, right;
      if (!split_merge(merge, &left, &right) || !impl_->bpe.add_merge(left, right))
        return Error{
            fmt::format("tokenizer.json: model.merges[{}] is not two entries of the vocabulary that join to "
                        "a third",
                        index)};
      ++index;
    }
    impl_->bpe.finish_merges(flag_of(model, "ignore_merges", false));
    return {};
  }

  static bool split_merge(dom::element merge, std::string_view* left, std::string_view* right) {
    std::string_view both;
    if (merge.get(both) == simdjson::SUCCESS) {
      const size_t space = both.find(' ');
      if (space == both.npos || both.find(' ', space + 1) != both.npos) return false;
      *left = both.substr(0, space);
      *right = both.substr(space + 1);
      return true;
    }
    dom::array pair;
    return merge.get(pair) == simdjson::SUCCESS && pair.size() == 2 &&
           pair.at(0).get(*left) == simdjson::SUCCESS && pair.at(1).get(*right) == simdjson::SUCCESS;
  }

  // {"Regex": ...} or {"String": ...}
  static Result<ClassRegex> pattern(dom::element step) {
    const auto value = member(step, "pattern");
    if (!value) return Error{"tokenizer.json: a step without a pattern"};
    if (const std::string_view regex = text_of(*value, "Regex"); !regex.empty())
      return ClassRegex::compile(regex);
    return ClassRegex::literal(text_of(*value, "String"));
  }

  // Calls each(part) for the parts of a Sequence's list `key`.
  template <class Each>
  static Result<void> sequence(dom::element step, const char* key, int depth, Each each) {
    dom::array parts;
    if (depth >= kMaxSequence || step[key].get(parts) != simdjson::SUCCESS) return refuse("this Sequence");
    for (const dom::element part : parts)
      if (Result<void> done = each(part); !done) return done;
    return {};
  }

  Result<void> normalizer(dom::element step, int depth) {
    using Kind = NormalizerStep::Kind;
    const std::string_view type = text_of(step, "type");
    if (type == "Sequence")
      return sequence(step, "normalizers", depth,
                      [&](dom::element part) { return normalizer(part, depth + 1); });
    NormalizerStep made{Kind::form};
    if (type == "NFC") {
      made.form = NormalForm::nfc;
    } else if (type == "NFD") {
      made.form = NormalForm::nfd;
    } else if (type == "NFKC") {
      made.form = NormalForm::nfkc;
    } else if (type == "NFKD") {
      made.form = NormalForm::nfkd;
    } else if (type == "Lowercase") {
      made.kind = Kind::lowercase;
    } else if (type == "StripAccents") {
      made.kind = Kind::strip_accents;
    } else if (type == "Strip") {
      made.kind = Kind::strip;
      made.left = flag_of(step, "strip_left", true);
      made.right = flag_of(step, "strip_right", true);
    } else if (type == "Prepend") {
      made.kind = Kind::prepend;
      made.content = text_of(step, "prepend");
    } else if (type == "Replace") {
      made.kind = Kind::replace;
      made.content = text_of(step, "content");
      auto regex = pattern(step);
      if (!regex) return regex.error();
      made.pattern.push_back(std::move(*regex));
    } else {
      return refuse(fmt::format("normalizer {}", type));
    }
    impl_->normalizer.add(std::move(made));
    return {};
  }

  Result<void> pretokenizer(dom::element step, int depth) {
    const std::string_view type = text_of(step, "type");
    if (byte_level_) return refuse("a pre-tokenizer after ByteLevel");
    if (type == "Sequence")
      return sequence(step, "pretokenizers", depth,
                      [&](dom::element part) { return pretokenizer(part, depth + 1); });
    PretokenizerStep made;
    Result<ClassRegex> regex = Error{};
    if (type == "Split") {
      const auto behavior = behavior_of(text_of(step, "behavior"));
      if (!behavior) return refuse(fmt::format("Split behavior {}", text_of(step, "behavior")));
      made.behavior = *behavior;
      made.invert = flag_of(step, "invert", false);
      regex = pattern(step);
    } else if (type == "Digits") {
      if (!flag_of(step, "individual_digits", false)) made.behavior = SplitBehavior::contiguous;
      regex = ClassRegex::compile(R"(\p{N})");
    } else if (type == "ByteLevel") {
      byte_level_ = true;
      made.prefix_space = flag_of(step, "add_prefix_space", true);
      if (flag_of(step, "use_regex", true)) regex = ClassRegex::compile(kGpt2Pattern);
    } else {
      return refuse(fmt::format("pre_tokenizer {}", type));
    }
    if (regex)
      made.pattern.push_back(std::move(*regex));
    else if (!regex.reason().empty())
      return Error{"tokenizer.json: " + regex.reason()};
    impl_->pretokenizer.add(std::move(made));
    return {};
  }

  static std::optional<SplitBehavior> behavior_of(std::string_view name) {
    if (name == "Removed") return SplitBehavior::removed;
    if (name == "Isolated") return SplitBehavior::isolated;
    if (name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
    if (name == "MergedWithNext") return SplitBehavior::merged_with_next;
    if (name == "Contiguous") return SplitBehavior::contiguous;
    return std::nullopt;
  }

  Result<void> decoder(dom::element root) {
    const auto decoder = member(root, "decoder");
    if (!decoder) return refuse("a tokenizer without a decoder");
    const std::string_view type = text_of(*decoder, "type");
    if (type != "ByteLevel") return refuse(fmt::format("decoder {}", type));
    return {};
  }

  Result<void> added_tokens(dom::element root) {
    dom::array tokens;
    if (member(root, "added_tokens") && root["added_tokens"].get(tokens) != simdjson::SUCCESS)
      return Error{"tokenizer.json: added_tokens is not a list"};
    int32_t largest = impl_->bpe.size() - 1;
    if (member(root, "added_tokens"))
      for (const dom::element token : tokens) {
        if (auto done = added_token(token); !done) return done;
        largest = std::max(largest, impl_->added.back().id);
      }
    impl_->size = largest + 1;
    impl_->special.resize(static_cast<size_t>(impl_->size));
    impl_->is_added.resize(static_cast<size_t>(impl_->size));
    for (const AddedToken& token : impl_->added) {
      if (token.special) impl_->special[static_cast<size_t>(token.id)] = true;
      impl_->is_added[static_cast<size_t>(token.id)] = true;
    }
    return {};
  }

  Result<void> added_token(dom::element value) {
    AddedToken token;
    int64_t id = -1;
    token.content = text_of(value, "content");
    if (value["id"].get(id) != simdjson::SUCCESS || id < 0 || id >= Bpe::kMaxId || token.content.empty())
      return Error{fmt::format("tokenizer.json: added_tokens[{}] needs a content and an id below {}",
                               impl_->added.size(), Bpe::kMaxId)};
    // An entry of the vocabulary keeps the id it has there.
    token.id = impl_->bpe.find(token.content).value_or(static_cast<int32_t>(id));
    token.special = flag_of(value, "special", false);
    token.normalized = flag_of(value, "normalized", !token.special);
    token.lstrip = flag_of(value, "lstrip", false);
    token.rstrip = flag_of(value, "rstrip", false);
    token.single_word = flag_of(value, "single_word", false);
    const AddedToken& kept = impl_->added.emplace_back(std::move(token));
    impl_->added_ids.emplace(kept.content, kept.id);
    impl_->added_bytes.emplace(kept.id, from_byte_alphabet(kept.content).value_or(kept.content));
    if (kept.normalized)
      impl_->normalized_tokens.add(&kept, impl_->normalizer.apply(kept.content));
    else
      impl_->raw_tokens.add(&kept, kept.content);
    return {};
  }

  std::unique_ptr<Tokenizer::Impl> impl_ = std::make_unique<Tokenizer::Impl>();
  bool byte_level_ = false;
};

namespace {

Result<Tokenizer> parse_padded(const simdjson::padded_string& json) {
  if (json.size() > kMaxFile)
    return Error{fmt::format("tokenizer.json: {} bytes, at most {}", json.size(), kMaxFile)};
  dom::parser parser;
  dom::element root;
  if (const auto error = parser.parse(json).get(root))
    return Error{fmt::format("tokenizer.json: not valid JSON: {}", simdjson::error_message(error))};
  return TokenizerReader().read(root);
}

}  // namespace

Result<Tokenizer> Tokenizer::parse(std::string_view json) {
  return parse_padded(simdjson::padded_string(json));
}

Result<Tokenizer> Tokenizer::load(const std::string& path) {
  std::error_code ignored;
  const std::string file = std::filesystem::is_directory(path, ignored) ? path + "/tokenizer.json" : path;
  simdjson::padded_string json;
  if (simdjson::padded_string::load(file).get(json) != simdjson::SUCCESS)
    return Error{fmt::format("cannot read the tokenizer '{}'", file)};
  auto tokenizer = parse_padded(json);
  if (!tokenizer) return Error{fmt::format("{}: {}", file, tokenizer.reason())};
  return tokenizer;
}

}  // namespace assay::text
