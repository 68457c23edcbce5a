// Jinja probes, chat templates, and prompts as ids.
#include <fmt/format.h>

#include "fixtures.h"
#include "text/chat_template.h"
#include "text/jinja/template.h"

namespace assay::text::fixtures {
namespace {

// The clock of all fixtures: 2026-01-02 03:04:05, a Friday.
std::tm fixed_time() {
  std::tm time{};
  time.tm_year = 126;
  time.tm_mday = 2;
  time.tm_hour = 3;
  time.tm_min = 4;
  time.tm_sec = 5;
  time.tm_wday = 5;
  time.tm_yday = 1;
  return time;
}

std::string check_probe(const Value& c) {
  const Value* error = c.find("error");
  const bool exotic = text_of(c, "tier") == "exotic";
  auto parsed = jinja::Template::parse(text_of(c, "template"));
  if (!parsed) return error != nullptr || exotic ? "" : "refused: " + parsed.reason();
  jinja::RenderOptions options;
  options.now = fixed_time();
  const jinja::Rendered rendered = parsed->render(member(c, "context"), options);
  if (const auto* failure = std::get_if<jinja::Failure>(&rendered)) {
    if (c.find("expected_is") != nullptr) return {};
    if (error == nullptr)
      return exotic && failure->kind == jinja::FailureKind::unsupported ? "" : "failed: " + failure->message;
    if (text_of(*error, "phase") == "load") return "should fail at load, not at render";
    if (text_of(*error, "kind") == "raise_exception" && failure->message != text_of(*error, "message"))
      return "message '" + failure->message + "'";
    return {};
  }
  const std::string& text = std::get<jinja::String>(rendered).bytes();
  if (error != nullptr) return "should fail, gives '" + text.substr(0, 60) + "'";
  if (c.find("expected_is") != nullptr) return {};
  return difference(text, text_of(c, "expected"));
}

ChatInput input_of(const Value& conversation) {
  ChatInput input;
  input.messages = member(conversation, "messages");
  if (const Value* tools = conversation.find("tools")) input.tools = *tools;
  if (const Value* documents = conversation.find("documents")) input.documents = *documents;
  if (const Value* kwargs = conversation.find("kwargs")) input.kwargs = *kwargs;
  input.add_generation_prompt = flag_of(conversation, "add_generation_prompt", false);
  if (const Value* go_on = conversation.find("continue_final_message")) {
    input.continue_final_message = go_on->is_string() || (go_on->is_bool() && go_on->as_bool());
    if (go_on->is_string()) input.continue_field = go_on->as_string().bytes();
  }
  input.parse_arguments = false;  // the fixtures hold what the library does, not what the server adds
  input.now = fixed_time();
  return input;
}

std::string check_render(const ChatTemplate& chat, const ChatInput& input, const Value& expectation) {
  RenderFailure failure = RenderFailure::none;
  const auto text = chat.render(input, &failure);
  const Value* error = expectation.find("error");
  if (!text) {
    if (error == nullptr) return "failed: " + text.reason();
    const bool raised = text_of(*error, "kind") == "raise_exception";
    if (!raised) return failure == RenderFailure::none ? "a failure without a kind" : "";
    if (failure != RenderFailure::raised) return "failed, but not by raise_exception: " + text.reason();
    return difference(text.reason(), text_of(*error, "message"));
  }
  if (error != nullptr) return "should fail";
  return difference(*text, text_of(expectation, "expected"));
}

ChatTemplate::SpecialTokens tokens_of(const Value& content) {
  ChatTemplate::SpecialTokens out;
  for (const auto& [name, token] : member(content, "special_tokens").entries())
    if (token.is_string()) out.emplace(name.as_string().bytes(), token.as_string().bytes());
  return out;
}

}  // namespace

void run_jinja_probes(const fs::path& file, Report* report) {
  for (const Value& c : read_json_lines(file)) report->check(text_of(c, "id"), check_probe(c));
}

void run_template_cases(const fs::path& file, const Value& content, Report* report) {
  const Value conversations =
      read_json(find_file(file.parent_path(), "chat_templates", "conversations.json"));
  const Value& by_name =
      conversations.find("conversations") ? member(conversations, "conversations") : conversations;
  const std::string name = file.stem().string();
  auto chat = ChatTemplate::parse(
      read_file(find_file(file.parent_path(), "chat_templates", text_of(content, "file"))),
      tokens_of(content));
  if (!chat) return report->fail(name, chat.reason());
  for (const Value& c : member(content, "cases").items()) {
    const std::string conversation = text_of(c, "conversation");
    ChatInput input = input_of(member(by_name, conversation));
    report->check(name + " " + conversation, check_render(*chat, input, c));
    // `null_kept`: the same without dropping nulls. It belongs to its case and is not counted by itself.
    const Value* kept = c.find("null_kept");
    if (kept == nullptr) continue;
    input.drop_nulls = false;
    const std::string detail = check_render(*chat, input, *kept);
    if (!detail.empty()) report->fail(name + " " + conversation + " (null kept)", detail);
  }
}

void run_sanitized_cases(const fs::path& file, const Value& cases, Tokenizers* tokenizers, Report* report) {
  for (const Value& c : cases.items()) {
    const std::string name = text_of(c, "template");
    const Tokenizer* tokenizer = tokenizers->find(text_of(c, "tokenizer"), file.parent_path(), report);
    if (tokenizer == nullptr) continue;
    const fs::path folder = file.parent_path();
    const auto find = [&](const std::string& relative) {
      return find_file(folder, "chat_templates", relative);
    };
    auto chat = ChatTemplate::parse(read_file(find("templates/" + name + ".jinja")),
                                    tokens_of(read_json(find(name + ".json"))));
    if (!chat) {
      report->fail(name, chat.reason());
      continue;
    }
    const ChatInput input = input_of(c);
    std::string detail;
    const auto text = chat->render(input);
    const auto ids = chat->encode(input, *tokenizer);
    if (!text || !ids)
      detail = "failed: " + (text ? ids.reason() : text.reason());
    else if (detail = difference(*text, text_of(c, "rendered")); detail.empty())
      detail = difference(tokenizer->encode(*text, AddedTokens::all), ids_of(member(c, "ids_unsafe")));
    if (detail.empty()) detail = difference(*ids, ids_of(member(c, "ids_sanitized")));
    report->check("sanitized " + name, detail);
  }
}

}  // namespace assay::text::fixtures
