// Token ids, texts back from ids, and stop strings.
#include <fmt/format.h>

#include <algorithm>

#include "fixtures.h"
#include "text/detokenizer.h"
#include "text/stop_matcher.h"

namespace assay::text::fixtures {
namespace {

const Value& member_or(const Value& object, const char* name, const Value& otherwise) {
  const Value* found = object.find(name);
  return found != nullptr ? *found : otherwise;
}

// `has_no_added`: the file tells ids_no_added apart, so that where it is absent the ids are equal.
std::string check_tokens(const Value& c, const Tokenizer& tokenizer, bool has_no_added) {
  const std::string text = text_of(c, "text");
  const Value& ids = member(c, "ids");
  const Value& split = member_or(c, "ids_split_special", ids);
  const Value& none = member_or(c, "ids_no_added", split);
  const Value& decoded = member_or(c, "decode", member(c, "text"));
  const Value& skipped = member_or(c, "decode_skip", decoded);
  const auto named = [](const char* what, std::string detail) {
    return detail.empty() ? detail : what + (": " + detail);
  };
  std::string out = named("ids", difference(tokenizer.encode(text, AddedTokens::all), ids_of(ids)));
  if (out.empty())
    out = named("ids_split_special",
                difference(tokenizer.encode(text, AddedTokens::non_special), ids_of(split)));
  if (out.empty() && has_no_added)
    out = named("ids_no_added", difference(tokenizer.encode(text, AddedTokens::none), ids_of(none)));
  if (out.empty())
    out = named("decode", difference(tokenizer.decode(ids_of(ids), false), decoded.as_string().bytes()));
  if (out.empty())
    out = named("decode_skip", difference(tokenizer.decode(ids_of(ids), true), skipped.as_string().bytes()));
  return out;
}

std::string check_pieces(const Value& c, const Tokenizer& tokenizer) {
  const std::vector<int32_t> ids = ids_of(member(c, "ids"));
  const bool skip_special = member(c, "skip_special_tokens").as_bool();
  Detokenizer detokenizer(tokenizer, skip_special);
  std::string joined;
  const auto& chunks = member(c, "chunks").items();
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string piece = detokenizer.push(ids[i]);
    joined += piece;
    if (const std::string d = difference(piece, chunks[i].as_string().bytes()); !d.empty())
      return fmt::format("chunk {}: {}", i, d);
  }
  const std::string flushed = detokenizer.flush();
  if (const std::string d = difference(flushed, text_of(c, "flush")); !d.empty()) return "flush: " + d;
  if (const std::string d = difference(joined + flushed, text_of(c, "full")); !d.empty())
    return "joined: " + d;
  return difference(tokenizer.decode(ids, skip_special), text_of(c, "full"));
}

struct StopRun {
  std::string text, stop;
  std::vector<std::string> chunks;
};

StopRun run_stops(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopMatcher matcher(stops);
  StopRun out;
  for (const std::string& piece : pieces) {
    const auto output = matcher.push(piece);
    out.text += output.text;
    out.chunks.push_back(output.text);
    out.stop = output.stop;
    if (output.matched) return out;
  }
  const std::string rest = matcher.flush();
  out.text += rest;
  if (!rest.empty()) out.chunks.push_back(rest);
  return out;
}

std::vector<std::string> strings_of(const Value& list) {
  std::vector<std::string> out;
  for (const Value& v : list.items()) out.push_back(v.as_string().bytes());
  return out;
}

std::vector<std::string> characters_of(const std::string& text) {
  std::vector<std::string> out;
  for (const char c : text) {
    if (out.empty() || (static_cast<uint8_t>(c) & 0xC0) != 0x80) out.emplace_back();
    out.back() += c;
  }
  return out;
}

std::string check_stops(const Value& c) {
  std::vector<std::string> stops = strings_of(member(c, "stop"));
  const std::string text = text_of(c, "text"), expected = text_of(c, "expected_text"),
                    stop = text_of(c, "matched_stop");
  for (int order = 0; order < 2; ++order) {
    for (const auto& pieces :
         {strings_of(member(c, "pieces")), characters_of(text), std::vector<std::string>{text}}) {
      const StopRun run = run_stops(stops, pieces);
      if (const std::string d = difference(run.text, expected); !d.empty()) return d;
      if (run.stop != stop) return fmt::format("stop '{}', expected '{}'", run.stop, stop);
    }
    std::reverse(stops.begin(), stops.end());
  }
  const std::vector<std::string> eager = strings_of(member(c, "eager_chunks_per_char"));
  return run_stops(stops, characters_of(text)).chunks == eager ? "" : "chunks for each character differ";
}

std::string label(const fs::path& file, const Value& c, size_t index) {
  std::string out =
      fmt::format("{}/{}:{}", file.parent_path().filename().string(), file.filename().string(), index);
  for (const char* key : {"group", "name"})
    if (const Value* found = c.find(key); found && found->is_string())
      out += " " + found->as_string().bytes();
  return out;
}

}  // namespace

void run_tokenizer_cases(const fs::path& file, const Tokenizer& tokenizer, Report* report) {
  const std::vector<Value> cases = read_json_lines(file);
  const bool has_no_added = std::any_of(cases.begin(), cases.end(),
                                        [](const Value& c) { return c.find("ids_no_added") != nullptr; });
  for (size_t i = 0; i < cases.size(); ++i)
    report->check(label(file, cases[i], i), check_tokens(cases[i], tokenizer, has_no_added));
}

void run_detokenizer_cases(const fs::path& file, const Tokenizer& tokenizer, Report* report) {
  const std::vector<Value> cases = read_json_lines(file);
  for (size_t i = 0; i < cases.size(); ++i)
    report->check(label(file, cases[i], i), check_pieces(cases[i], tokenizer));
}

void run_stop_cases(const fs::path& file, const Value& cases, Report* report) {
  for (size_t i = 0; i < cases.size(); ++i)
    report->check(label(file, cases.items()[i], i), check_stops(cases.items()[i]));
}

}  // namespace assay::text::fixtures
