#include "serve/answer.h"

#include <gtest/gtest.h>

#include <random>

namespace assay::serve {
namespace {

const text::Tokenizer& tiny() {
  static const text::Tokenizer tokenizer = [] {
    Result<text::Tokenizer> t = text::Tokenizer::load(ASSAY_SOURCE_DIR "/models/tiny");
    EXPECT_TRUE(t) << t.reason();
    return std::move(*t);
  }();
  return tokenizer;
}

struct Whole {
  std::string content, reasoning;
  engine::FinishReason finish = engine::FinishReason::none;
  bool by_stop = false;
  int generated = 0;
};

Whole play(const std::string& text, std::vector<std::string> stops, bool in_reasoning) {
  Answer answer(tiny(), std::move(stops), true, in_reasoning);
  Whole whole;
  const std::vector<int32_t> ids = tiny().encode(text, text::AddedTokens::all);
  for (size_t i = 0; i < ids.size(); ++i) {
    engine::TokenEvent event{1, ids[i], static_cast<int32_t>(i), engine::FinishReason::none, false};
    if (i + 1 == ids.size()) event.finish = engine::FinishReason::length;
    const Answer::Delta delta = answer.push(event);
    whole.content += delta.content;
    whole.reasoning += delta.reasoning;
    whole.finish = delta.finish;
    whole.by_stop = delta.by_stop_string;
    if (delta.finish != engine::FinishReason::none) break;
  }
  whole.generated = answer.generated();
  return whole;
}

TEST(Answer, TextComesThroughWhole) {
  const Whole w = play("Once upon a time, naïve 汉字 🦊 ended.", {}, false);
  EXPECT_EQ(w.content, "Once upon a time, naïve 汉字 🦊 ended.");
  EXPECT_EQ(w.finish, engine::FinishReason::length);
}

TEST(Answer, StopStringsNeverLeak) {
  const Whole w = play("one two three four", {"three"}, false);
  EXPECT_EQ(w.content, "one two ");
  EXPECT_EQ(w.finish, engine::FinishReason::stop);
  EXPECT_TRUE(w.by_stop);
  const Whole half = play("one two thr", {"three"}, false);
  EXPECT_EQ(half.content, "one two thr");
  EXPECT_EQ(half.finish, engine::FinishReason::length);
}

TEST(Answer, TheStopTokenIsNoText) {
  Answer answer(tiny(), {}, true, false);
  const int32_t id = tiny().encode("x", text::AddedTokens::none)[0];
  const Answer::Delta delta = answer.push({1, id, 0, engine::FinishReason::stop, true});
  EXPECT_EQ(delta.content, "");
  EXPECT_EQ(delta.finish, engine::FinishReason::stop);
  EXPECT_EQ(answer.generated(), 1);
}

TEST(Answer, ReasoningIsParted) {
  const Whole w = play("I think so.\n</think>\n\nYes.", {}, true);
  EXPECT_EQ(w.reasoning, "I think so.");
  EXPECT_EQ(w.content, "Yes.");
  const Whole open = play("still thinking", {}, true);
  EXPECT_EQ(open.reasoning, "still thinking");
  EXPECT_EQ(open.content, "");
}

TEST(ReasoningSplitter, DoesNotDependOnTheCuts) {
  const std::string text = "a < b </thin k> \n c\n\n</think>\n\nthe answer </think> x";
  std::mt19937 rng(1);
  for (int round = 0; round < 500; ++round) {
    ReasoningSplitter splitter(true);
    std::string content, reasoning;
    for (size_t at = 0; at < text.size();) {
      const size_t n = 1 + rng() % 5;
      const auto out = splitter.push(std::string_view(text).substr(at, n));
      content += out.content;
      reasoning += out.reasoning;
      at += n;
    }
    reasoning += splitter.flush().reasoning;
    ASSERT_EQ(reasoning, "a < b </thin k> \n c");
    ASSERT_EQ(content, "the answer </think> x");
  }
}

}  // namespace
}  // namespace assay::serve
