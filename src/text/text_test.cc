// Tokenizer, detokenizer, stop strings and chat templates on the embedded model's files.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "text/chat_template.h"
#include "text/class_regex.h"
#include "text/detokenizer.h"
#include "text/stop_matcher.h"
#include "text/tokenizer.h"
#include "text/unicode/utf8.h"

namespace assay::text {
namespace {

const std::string kTiny = ASSAY_SOURCE_DIR "/models/tiny";

const Tokenizer& tiny() {
  static const Tokenizer tokenizer = std::move(*Tokenizer::load(kTiny));
  return tokenizer;
}

// Text with pieces that matter: control tokens and their halves, spaces, letters of several scripts.
rc::Gen<std::string> any_text() {
  const auto piece =
      rc::gen::element<std::string>("<|im_end|>", "<|im_", "end|>", "<think>", " ", "\n", "hello", "1234",
                                    "\u4F60\u597D", "e\u0301", "\U0001F600", "'s", "\t ", "<", "|", ">");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& parts) {
                        std::string out;
                        for (const std::string& part : parts) out += part;
                        return out;
                      });
}

TEST(Tokenizer, KnowsItsTokens) {
  const auto end = tiny().added_token_id("<|im_end|>");
  ASSERT_TRUE(end);
  EXPECT_TRUE(tiny().is_special(*end));
  EXPECT_FALSE(tiny().is_special(*tiny().added_token_id("<think>")));
  EXPECT_EQ(tiny().encode("<|im_end|>", AddedTokens::all), std::vector<int32_t>{*end});
  EXPECT_GT(tiny().encode("<|im_end|>", AddedTokens::none).size(), 1u);
  EXPECT_EQ(tiny().token_id("<|im_end|>"), end);
  EXPECT_FALSE(tiny().added_token_id("hello"));
  EXPECT_FALSE(tiny().is_special(-1));
  EXPECT_EQ(tiny().decode(std::vector<int32_t>{-5, tiny().size(), 1 << 30}, false), "");
}

TEST(Tokenizer, RoundTrip) {
  EXPECT_TRUE(rc::check([] {
    const std::string text = *any_text();
    for (const auto mode : {AddedTokens::all, AddedTokens::non_special, AddedTokens::none}) {
      const std::string back = tiny().decode(tiny().encode(text, mode), false);
      // NFC joins e and its accent and nothing else here.
      std::string expected = text;
      for (size_t at; (at = expected.find("e\u0301")) != std::string::npos;)
        expected.replace(at, 3, "\u00E9");
      RC_ASSERT(back == expected);
    }
  }));
}

TEST(Tokenizer, MalformedBytesAreReplaced) {
  EXPECT_EQ(tiny().encode("a\xFF\xE4\xBD", AddedTokens::all),
            tiny().encode("a\uFFFD\uFFFD", AddedTokens::all));
}

TEST(Tokenizer, UserTextNeverBecomesAControlToken) {
  EXPECT_TRUE(rc::check([] {
    std::string text;
    std::vector<jinja::ByteRange> user;
    int trusted_ends = 0;
    for (int i = *rc::gen::inRange(0, 6); i > 0; --i) {
      const std::string part = *any_text();
      if (!part.empty()) user.push_back({text.size(), text.size() + part.size()});
      text += part + "<|im_end|>";
      ++trusted_ends;
    }
    const auto deny = [](std::string_view, bool) { return false; };
    const auto ids = tiny().encode_guarded(text, user, deny);
    RC_ASSERT(std::count(ids.begin(), ids.end(), *tiny().added_token_id("<|im_end|>")) == trusted_ends);
    RC_ASSERT(std::count(ids.begin(), ids.end(), *tiny().added_token_id("<think>")) == 0);
  }));
}

TEST(Tokenizer, LongRunsAreNotQuadratic) {
  for (const char* unit : {"a", " ", "\n", "\u4F60", "1", "!", "e\u0301", "<"}) {
    std::string text;
    while (text.size() < 200'000) text += unit;
    EXPECT_FALSE(tiny().encode(text, AddedTokens::all).empty());
  }
}

TEST(Tokenizer, ThreadsShareOne) {
  const std::string text = "hello world <think> 1234 \u4F60\u597D";
  const auto expected = tiny().encode(text, AddedTokens::all);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) wrong += tiny().encode(text, AddedTokens::all) != expected;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Tokenizer, RefusesByName) {
  const auto reason = [](const std::string& json) {
    const auto made = Tokenizer::parse(json);
    return made ? std::string("accepted") : made.reason();
  };
  const std::string head = R"({"decoder": {"type": "ByteLevel"}, "pre_tokenizer": )";
  const std::string model =
      R"(, "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})";
  EXPECT_EQ(reason(head + R"({"type": "ByteLevel"})" + model), "accepted");
  EXPECT_NE(reason(head + R"({"type": "Metaspace"})" + model).find("Metaspace"), std::string::npos);
  EXPECT_NE(
      reason(head + R"({"type": "Split", "pattern": {"Regex": "a\\bc"}, "behavior": "Isolated"})" + model)
          .find("\\b"),
      std::string::npos);
  EXPECT_NE(reason(R"({"model": {"type": "Unigram", "vocab": []}})").find("Unigram"), std::string::npos);
  EXPECT_NE(reason("{").find("JSON"), std::string::npos);
  EXPECT_NE(reason(head + R"({"type": "ByteLevel"}, "model": {"vocab": {"a": 0}, "merges": ["a a"]}})")
                .find("merges[0]"),
            std::string::npos);
}

std::string pieces_of(const std::string& pattern, std::string_view text) {
  std::vector<Span> spans;
  ClassRegex::compile(pattern)->split(text, &spans);
  std::string out;
  for (const Span& s : spans)
    out += (s.match ? "[" : "(") + std::string(text.substr(s.begin, s.end - s.begin)) + (s.match ? "]" : ")");
  return out;
}

TEST(ClassRegex, SetsAreWorkedOutHere) {
  EXPECT_EQ(pieces_of("[a-d&&[^bc]]+", "abcd"), "[a](bc)[d]");
  EXPECT_EQ(pieces_of("(?i:'s)", "'S'\u017F's"), "['S]['\u017F]['s]");
  EXPECT_EQ(pieces_of("\\p{L}+(?!\\S)", "ab \U00031350 c!"), "[ab]( )[\U00031350]( c!)");
  EXPECT_EQ(pieces_of("[^\\s\\p{Han}]{2}", "a\u4F60bc\u3000d"), "(a\u4F60)[bc](\u3000d)");
  EXPECT_EQ(pieces_of("x*", "axx"), "(a)[xx]");
  for (const char* bad :
       {"a\\b", "(?<n>a)", "[[:alpha:]]", "a$", "(", ")", "[a", "\\p{Foo}", "a{2", "(?s:a)", "+a"})
    EXPECT_FALSE(ClassRegex::compile(bad)) << bad;
}

TEST(Detokenizer, DoesNotDependOnGrouping) {
  EXPECT_TRUE(rc::check([](bool skip_special) {
    const auto ids = *rc::gen::container<std::vector<int32_t>>(rc::gen::inRange(0, tiny().size() + 3));
    Detokenizer detokenizer(tiny(), skip_special);
    std::string joined;
    for (const int32_t id : ids) {
      joined += detokenizer.push(id);
      RC_ASSERT(is_valid_utf8(joined));
    }
    RC_ASSERT(joined + detokenizer.flush() == tiny().decode(ids, skip_special));
  }));
}

// The definition: the stop that ends first, the longest of those; found by looking at every end.
std::pair<std::string, std::string> stop_by_definition(const std::string& text,
                                                       const std::vector<std::string>& stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    std::string best;
    for (const std::string& stop : stops)
      if (stop.size() > best.size() && stop.size() <= end &&
          text.compare(end - stop.size(), stop.size(), stop) == 0)
        best = stop;
    if (!best.empty()) return {text.substr(0, end - best.size()), best};
  }
  return {text, ""};
}

TEST(StopMatcher, DoesNotDependOnCuts) {
  EXPECT_TRUE(rc::check([] {
    const auto word = rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c'));
    const std::string text = *word;
    const auto stops = *rc::gen::container<std::vector<std::string>>(word);
    StopMatcher matcher(stops);
    std::string sent, stop;
    for (size_t i = 0; i < text.size() && stop.empty();) {
      const size_t n = *rc::gen::inRange<size_t>(1, 4);
      const auto out = matcher.push(std::string_view(text).substr(i, n));
      sent += out.text;
      stop = out.stop;
      i += n;
    }
    const auto expected = stop_by_definition(text, stops);
    RC_ASSERT(stop == expected.second);
    RC_ASSERT(sent + matcher.flush() == expected.first);
  }));
}

TEST(StopMatcher, SendsAtOnceWhatCannotMatch) {
  StopMatcher matcher({"STOP"});
  EXPECT_EQ(matcher.push("aST").text, "a");
  EXPECT_EQ(matcher.push("x").text, "STx");
  EXPECT_EQ(matcher.push("STO").text, "");
  EXPECT_EQ(matcher.flush(), "STO");
}

jinja::Value chat(const std::string& json) {
  return *jinja::value_from_json(json);
}

TEST(ChatTemplate, EmbeddedModel) {
  const auto made = ChatTemplate::load(kTiny, "");
  ASSERT_TRUE(made) << made.reason();
  ChatInput input;
  input.messages = chat(R"([{"role": "user", "content": "hi<|im_end|>"}])");
  const auto text = made->render(input);
  ASSERT_TRUE(text) << text.reason();
  const auto ids = made->encode(input, tiny());
  const auto plain = tiny().encode(*text, AddedTokens::all);
  const int32_t end = *tiny().added_token_id("<|im_end|>");
  EXPECT_EQ(std::count(ids->begin(), ids->end(), end) + 1, std::count(plain.begin(), plain.end(), end));
  EXPECT_EQ(tiny().decode(*ids, false), *text);
}

TEST(ChatTemplate, TellsRaisedFromFailed) {
  const auto made = ChatTemplate::parse(
      "{% if tools %}{{ raise_exception('no tools') }}{% endif %}{{ messages[0].x.y }}", {});
  ChatInput input;
  input.messages = chat(R"([{"role": "user"}])");
  RenderFailure failure = RenderFailure::none;
  EXPECT_FALSE(made->render(input, &failure));
  EXPECT_EQ(failure, RenderFailure::failed);
  input.tools = chat("[1]");
  EXPECT_EQ(made->render(input, &failure).reason(), "no tools");
  EXPECT_EQ(failure, RenderFailure::raised);
  input.continue_final_message = true;
  EXPECT_FALSE(made->render(input, &failure));
  EXPECT_EQ(failure, RenderFailure::refused);
}

TEST(ChatTemplate, ArgumentsComeAsTheTemplateWantsThem) {
  const std::string calls =
      R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{\"a\": 1}"}}]}])";
  const std::string loop = "{% for m in messages %}{% for c in m.tool_calls %}";
  const std::string ends = "{% endfor %}{% endfor %}";
  ChatInput input;
  input.messages = chat(calls);
  const auto object = ChatTemplate::parse(loop + "{{ c.function.arguments|tojson }}" + ends, {});
  EXPECT_FALSE(object->wants_string_arguments());
  EXPECT_EQ(*object->render(input), R"({"a": 1})");
  const auto text = ChatTemplate::parse(loop + "{{ '<' + c.function.arguments + '>' }}" + ends, {});
  EXPECT_TRUE(text->wants_string_arguments());
  EXPECT_EQ(*text->render(input), R"(<{"a": 1}>)");
}

TEST(ChatTemplate, ContinuesTheLastMessage) {
  const auto made =
      ChatTemplate::parse("{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}", {});
  ChatInput input;
  input.messages = chat(
      R"([{"role": "user", "content": "ASSAY_CONTINUES_HERE x"}, {"role": "assistant", "content": "so "}])");
  input.add_generation_prompt = false;
  input.continue_final_message = true;
  EXPECT_EQ(*made->render(input), "<user>ASSAY_CONTINUES_HERE x<end><assistant>so ");
}

}  // namespace
}  // namespace assay::text
