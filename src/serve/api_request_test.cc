#include "serve/api_request.h"

#include <gtest/gtest.h>

#include "serve/json_reader.h"

namespace assay::serve {
namespace {

RequestRules rules() {
  RequestRules r;
  r.vocab_size = 4096;
  r.defaults.temperature = 0.7f;
  return r;
}

std::string chat_with(const std::string& fields) {
  return R"({"messages":[{"role":"user","content":"hi"}])" + (fields.empty() ? "" : "," + fields) + "}";
}

struct BadInput {
  std::string body, param;
};

void expect_refused(const Checked<ChatRequest>& result, const BadInput& bad) {
  ASSERT_FALSE(result) << bad.body;
  EXPECT_EQ(result.error().status, 400);
  EXPECT_EQ(result.error().type, "invalid_request_error");
  EXPECT_EQ(result.error().param, bad.param) << bad.body << "\n" << result.error().message;
  EXPECT_FALSE(result.error().message.empty());
}

TEST(ChatRequest, TakesWhatClientsSend) {
  const auto r = parse_chat_request(
      R"({"model":"m","messages":[{"role":"developer","content":"be brief"},
          {"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
          {"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",
             "function":{"name":"f","arguments":"{}"}}]},
          {"role":"tool","tool_call_id":"1","content":"42"}],
          "temperature":0,"top_p":0.5,"top_k":-1,"seed":-5,"stop":["x","y"],"n":2,"stream":true,
          "stream_options":{"include_usage":true},"max_completion_tokens":7,"logit_bias":{"5":-100},
          "user":"u","never_heard_of":1,"response_format":{"type":"text"},"tool_choice":"auto",
          "tools":[{"type":"function","function":{"name":"f"}}],"logprobs":false,"chat_template_kwargs":{"enable_thinking":true}})",
      rules());
  ASSERT_TRUE(r) << r.error().message;
  const CommonFields& c = (*r).common;
  EXPECT_EQ(c.n, 2);
  EXPECT_TRUE(c.stream);
  EXPECT_TRUE(c.include_usage);
  EXPECT_EQ(c.sampling.temperature, 0.0f);
  EXPECT_EQ(c.sampling.top_k, 0);
  EXPECT_EQ(*c.seed, static_cast<uint64_t>(-5));
  EXPECT_EQ(*c.max_tokens, 7);
  EXPECT_EQ(c.stop.size(), 2u);
  EXPECT_EQ(c.unknown_fields, 1u);
  ASSERT_EQ(c.sampling.logit_bias.size(), 1u);
  const auto& messages = (*r).messages.items();
  ASSERT_EQ(messages.size(), 4u);
  const auto text = [](const text::jinja::Value& m, std::string_view key) {
    return *text::jinja::to_json(*m.find(key));
  };
  EXPECT_EQ(text(messages[0], "role"), "\"system\"");
  EXPECT_EQ(text(messages[1], "content"), "\"a\\nb\"");
}

TEST(ChatRequest, DefaultsComeFromTheRules) {
  const auto r = parse_chat_request(chat_with(""), rules());
  ASSERT_TRUE(r);
  EXPECT_EQ((*r).common.sampling.temperature, 0.7f);
  EXPECT_FALSE((*r).common.seed.has_value());
  EXPECT_FALSE((*r).common.max_tokens.has_value());
}

TEST(ChatRequest, RefusesWithTheFieldsName) {
  const BadInput table[] = {
      {"", ""},
      {"[]", ""},
      {"{}", "messages"},
      {R"({"messages":[]})", "messages"},
      {R"({"messages":"hi"})", "messages"},
      {R"({"messages":[{"role":"king","content":"x"}]})", "messages[0].role"},
      {R"({"messages":[{"role":"user"}]})", "messages[0].content"},
      {R"({"messages":[{"role":"user","content":7}]})", "messages[0].content"},
      {R"({"messages":[{"role":"user","content":"x"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]})",
       "messages[1].content[0]"},
      {R"({"messages":[{"role":"user","content":[{"type":"text"}]}]})", "messages[0].content[0].text"},
      {R"({"messages":[{"role":"assistant","tool_calls":[{}]}]})", "messages[0].tool_calls[0].function"},
      {chat_with(R"("temperature":2.1)"), "temperature"},
      {chat_with(R"("temperature":"hot")"), "temperature"},
      {chat_with(R"("top_p":0)"), "top_p"},
      {chat_with(R"("top_k":-2)"), "top_k"},
      {chat_with(R"("min_p":1.5)"), "min_p"},
      {chat_with(R"("n":0)"), "n"},
      {chat_with(R"("n":9)"), "n"},
      {chat_with(R"("n":1.5)"), "n"},
      {chat_with(R"("max_tokens":0)"), "max_tokens"},
      {chat_with(R"("max_tokens":99999999999)"), "max_tokens"},
      {chat_with(R"("seed":1e300)"), "seed"},
      {chat_with(R"("stop":[1])"), "stop[0]"},
      {chat_with(R"("stop":[""])"), "stop[0]"},
      {chat_with(R"("stop":")" + std::string(257, 'x') + "\""), "stop"},
      {chat_with(R"("stream":"yes")"), "stream"},
      {chat_with(R"("stream_options":{"include_usage":true})"), "stream_options"},
      {chat_with(R"("stream":true,"stream_options":{"include_usage":1})"), "stream_options.include_usage"},
      {chat_with(R"("logit_bias":{"4096":1})"), "logit_bias"},
      {chat_with(R"("logit_bias":{"5":101})"), "logit_bias"},
      {chat_with(R"("logit_bias":{"x":1})"), "logit_bias"},
      {chat_with(R"("stop_token_ids":[-1])"), "stop_token_ids"},
      {chat_with(R"("logprobs":true)"), "logprobs"},
      {chat_with(R"("top_logprobs":3)"), "top_logprobs"},
      {chat_with(R"("response_format":{"type":"json_object"})"), "response_format"},
      {chat_with(R"("tool_choice":"required")"), "tool_choice"},
      {chat_with(R"("tool_choice":"perhaps")"), "tool_choice"},
      {chat_with(R"("tools":[{"type":"function"}])"), "tools[0]"},
      {chat_with(R"("functions":[])"), "functions"},
      {chat_with(R"("audio":{})"), "audio"},
      {chat_with(R"("modalities":["audio"])"), "modalities"},
      {chat_with(R"("presence_penalty":3)"), "presence_penalty"},
      {chat_with(R"("repetition_penalty":0)"), "repetition_penalty"},
      {chat_with(R"("min_tokens":5,"max_tokens":2)"), "min_tokens"},
      {chat_with(R"("continue_final_message":true,"add_generation_prompt":true)"), "continue_final_message"},
      {chat_with(R"("chat_template":"x")"), "chat_template"},
      {chat_with(R"("model":5)"), "model"},
  };
  for (const BadInput& bad : table) expect_refused(parse_chat_request(bad.body, rules()), bad);
}

TEST(Json, LimitsAreChecked) {
  const auto nested = [](size_t depth) {
    return R"({"messages":[{"role":"user","content":"x"}],"metadata":)" + std::string(depth, '[') +
           std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(parse_chat_request(nested(60), rules()));
  EXPECT_FALSE(parse_chat_request(nested(64), rules()));
  EXPECT_FALSE(parse_chat_request(nested(100000), rules()));
  for (const char* bad :
       {R"({"a":1,"a":2})", R"({"a":{"b":1,"c":2,"\u0062":3}})", "{\"a\":\"\xff\"}", R"({"a":NaN})",
        R"({"a":1e999})", R"({"a":"\ud800"})", R"({"a":1} x)", R"({"a":1)", R"({'a':1})"})
    EXPECT_FALSE(parse_json_object(bad)) << bad;
  std::string many = "{\"a\":[";
  for (size_t i = 0; i < kMaxJsonNodes + 1; ++i) many += i == 0 ? "\"\"" : ",\"\"";
  EXPECT_FALSE(parse_json_object(many + "]}"));
}

TEST(CompletionRequest, FourKindsOfPrompt) {
  const auto parse = [](const std::string& prompt) {
    return parse_completion_request("{\"prompt\":" + prompt + "}", rules());
  };
  EXPECT_EQ((*parse("\"a\"")).prompts.size(), 1u);
  EXPECT_EQ((*parse(R"(["a","b"])")).prompts.size(), 2u);
  EXPECT_EQ((*parse("[1,2]")).prompts[0].ids.size(), 2u);
  EXPECT_EQ((*parse("[[1],[2,3]]")).prompts[1].ids.size(), 2u);
  for (const char* bad :
       {"\"\"", "[]", "[[]]", "[\"a\",1]", "[1,\"a\"]", "[4096]", "[-1]", "7", "{}", "[null]", "[1.5]"})
    EXPECT_FALSE(parse(bad)) << bad;
  EXPECT_EQ(parse("[[1],[9999]]").error().param, "prompt[1]");
  EXPECT_EQ(parse_completion_request(R"({"prompt":"a","suffix":"b"})", rules()).error().param, "suffix");
  EXPECT_EQ(parse_completion_request(R"({"prompt":"a","best_of":2})", rules()).error().param, "best_of");
  EXPECT_EQ(parse_completion_request(R"({"prompt":"a","logprobs":5})", rules()).error().param, "logprobs");
}

}  // namespace
}  // namespace assay::serve
