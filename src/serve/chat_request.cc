#include <fmt/format.h>

#include <boost/json.hpp>

#include "serve/api_request.h"
#include "serve/json_reader.h"

namespace assay::serve {
namespace {

namespace json = boost::json;
using text::jinja::Value;

std::string_view view(const json::string& s) {
  return {s.data(), s.size()};
}

bool known_role(std::string_view role) {
  for (const char* known : {"system", "developer", "user", "assistant", "tool"})
    if (role == known) return true;
  return false;
}

void check_part(FieldReader& r, const json::value& part, const std::string& path) {
  if (!part.is_object())
    return r.fail(path,
                  fmt::format("'{}' must be an object like {{\"type\": \"text\", \"text\": ...}}, found {}.",
                              path, describe_kind(part)));
  const json::value* type = part.as_object().if_contains("type");
  if (type == nullptr || !type->is_string())
    return r.fail(path + ".type", fmt::format("'{}.type' must be \"text\".", path));
  const std::string_view name = view(type->as_string());
  if (name != "text" && name != "input_text" && name != "output_text")
    return r.fail(
        path,
        fmt::format("'{}' is of type \"{}\"; this server takes text parts only: images, audio, video "
                    "and files are refused.",
                    path, name.substr(0, 64)),
        "unsupported_content");
  const json::value* value = part.as_object().if_contains("text");
  if (value == nullptr || !value->is_string())
    r.fail(path + ".text", fmt::format("'{}.text' must be a string.", path));
}

void check_content(FieldReader& r, const json::object& message, std::string_view role,
                   const std::string& path) {
  const json::value* content = message.if_contains("content");
  const std::string where = path + ".content";
  if (content == nullptr || content->is_null()) {
    if (role != "assistant")
      r.fail(where,
             fmt::format("'{}' is missing: a {} message has a string or a list of text parts.", where, role));
    return;
  }
  if (content->is_string()) return;
  if (!content->is_array())
    return r.fail(where, fmt::format("'{}' must be a string or a list of text parts, found {}.", where,
                                     describe_kind(*content)));
  const json::array& parts = content->as_array();
  for (size_t i = 0; i < parts.size(); ++i) check_part(r, parts[i], fmt::format("{}[{}]", where, i));
}

void check_tool_calls(FieldReader& r, const json::object& message, const std::string& path) {
  const json::value* calls = message.if_contains("tool_calls");
  if (calls == nullptr || calls->is_null()) return;
  const std::string where = path + ".tool_calls";
  if (!calls->is_array() || calls->as_array().size() > kMaxTools)
    return r.fail(where, fmt::format("'{}' must be a list of at most {} calls.", where, kMaxTools));
  for (size_t i = 0; i < calls->as_array().size(); ++i) {
    const json::value& call = calls->as_array()[i];
    const std::string at = fmt::format("{}[{}].function", where, i);
    const json::value* function = call.is_object() ? call.as_object().if_contains("function") : nullptr;
    if (function == nullptr || !function->is_object())
      return r.fail(at, fmt::format("'{}' must be an object with name and arguments.", at));
    const json::value* name = function->as_object().if_contains("name");
    if (name == nullptr || !name->is_string())
      return r.fail(at + ".name", fmt::format("'{}.name' must be a string.", at));
    const json::value* arguments = function->as_object().if_contains("arguments");
    if (arguments != nullptr && !arguments->is_string() && !arguments->is_object() && !arguments->is_null())
      return r.fail(at + ".arguments", fmt::format("'{}.arguments' must be a JSON string or an object.", at));
  }
}

void check_tools(FieldReader& r) {
  if (const json::array* tools = r.array("tools", kMaxTools)) {
    for (size_t i = 0; i < tools->size(); ++i) {
      const json::value& tool = (*tools)[i];
      const std::string path = fmt::format("tools[{}]", i);
      const json::value* function = tool.is_object() ? tool.as_object().if_contains("function") : nullptr;
      const json::value* name =
          function != nullptr && function->is_object() ? function->as_object().if_contains("name") : nullptr;
      if (name == nullptr || !name->is_string())
        return r.fail(
            path,
            fmt::format("'{}' must be {{\"type\": \"function\", \"function\": {{\"name\": ...}}}}.", path));
    }
  }
  const json::value* choice = r.raw("tool_choice");
  if (choice == nullptr) return;
  if (choice->is_string() && (choice->as_string() == "auto" || choice->as_string() == "none")) return;
  const bool known = choice->is_object() || (choice->is_string() && choice->as_string() == "required");
  r.fail("tool_choice",
         known ? "'tool_choice' can be \"auto\" or \"none\" in this version: a forced call needs "
                 "structured output, which is not built yet."
               : fmt::format("'tool_choice' must be \"auto\" or \"none\", found {}.", describe_kind(*choice)),
         known ? "unsupported_parameter" : "");
}

std::string join_parts(const json::array& parts) {
  std::string joined;
  for (const json::value& part : parts) {
    if (!joined.empty()) joined += '\n';
    joined += view(part.as_object().at("text").as_string());
  }
  return joined;
}

void read_chat_flags(FieldReader& r, const Value& root, ChatRequest* chat) {
  const auto field = [&](const char* name) {
    const Value* value = root.find(std::string_view(name));
    return value == nullptr ? Value() : *value;
  };
  chat->continue_final_message = r.boolean("continue_final_message").value_or(false);
  chat->add_generation_prompt = r.boolean("add_generation_prompt").value_or(!chat->continue_final_message);
  if (chat->continue_final_message && chat->add_generation_prompt)
    r.fail("continue_final_message",
           "'continue_final_message' and 'add_generation_prompt' exclude each other.");
  if (r.object("chat_template_kwargs") != nullptr) chat->kwargs = field("chat_template_kwargs");
  if (r.array("documents", kMaxTools) != nullptr) chat->documents = field("documents");
  if (r.text("reasoning_effort", 64)) chat->kwargs.set("reasoning_effort", field("reasoning_effort"));
  check_tools(r);
  chat->tools = field("tools");
  if (chat->tools.size() == 0) chat->tools = Value();
  r.boolean("parallel_tool_calls");
  if (const json::array* modalities = r.array("modalities", 8))
    for (const json::value& m : *modalities)
      if (!m.is_string() || m.as_string() != "text")
        r.fail("modalities", "'modalities' can only be [\"text\"].", "unsupported_parameter");
  r.refuse("chat_template", "a template comes from the operator, by --chat-template");
  for (const char* name : {"verbosity", "separate_reasoning", "stream_reasoning"}) r.accept(name);
}

Checked<ChatRequest> read_chat(FieldReader& r, std::string_view body, const RequestRules& rules) {
  ChatRequest chat;
  chat.common = read_common(r, rules);
  const json::array* messages = r.array("messages", kMaxMessages);
  if (messages == nullptr)
    r.fail("messages", "'messages' is missing: a list of {\"role\", \"content\"} objects.");
  if (messages != nullptr) check_messages(r, *messages);
  if (r.error()) return *r.error();
  // The same text again as template values: they keep every digit of a number, which a template may print.
  Result<Value> root = text::jinja::value_from_json(body);
  if (!root) return bad_request("", root.reason(), "invalid_json");
  read_chat_flags(r, *root, &chat);
  const Value* same = root->find(std::string_view("messages"));
  if (same != nullptr && !r.error()) chat.messages = messages_for_template(*messages, *same);
  chat.common.unknown_fields = r.unknown_fields();
  if (r.error()) return *r.error();
  return chat;
}

}  // namespace

void check_messages(FieldReader& r, const json::array& messages) {
  if (messages.empty()) return r.fail("messages", "'messages' is empty: at least one message is needed.");
  for (size_t i = 0; i < messages.size() && !r.error(); ++i) {
    const std::string path = fmt::format("messages[{}]", i);
    if (!messages[i].is_object())
      return r.fail(path, fmt::format("'{}' must be an object, found {}.", path, describe_kind(messages[i])));
    const json::object& message = messages[i].as_object();
    const json::value* role = message.if_contains("role");
    if (role == nullptr || !role->is_string() || !known_role(view(role->as_string())))
      return r.fail(
          path + ".role",
          fmt::format("'{}.role' must be system, developer, user, assistant or tool, found {}.", path,
                      role == nullptr     ? "nothing"
                      : role->is_string() ? fmt::format("\"{}\"", view(role->as_string()).substr(0, 64))
                                          : describe_kind(*role)));
    check_content(r, message, view(role->as_string()), path);
    check_tool_calls(r, message, path);
    for (const char* name : {"name", "tool_call_id", "reasoning_content", "reasoning", "refusal"}) {
      const json::value* value = message.if_contains(name);
      if (value != nullptr && !value->is_null() && !value->is_string())
        r.fail(fmt::format("{}.{}", path, name),
               fmt::format("'{}.{}' must be a string, found {}.", path, name, describe_kind(*value)));
    }
  }
}

Value messages_for_template(const json::array& checked, const Value& same) {
  Value messages = Value::list();
  for (size_t i = 0; i < checked.size(); ++i) {
    const json::object& message = checked[i].as_object();
    Value copy = same.items()[i];
    if (message.at("role").as_string() == "developer") copy.set("role", Value("system"));
    const json::value* content = message.if_contains("content");
    if (content != nullptr && content->is_array())
      copy.set("content", Value(join_parts(content->as_array())));
    messages.append(std::move(copy));
  }
  return messages;
}

Checked<ChatRequest> parse_chat_request(std::string_view body, const RequestRules& rules) {
  Checked<json::object> root = parse_json_object(body);
  if (!root) return root.error();
  FieldReader reader(*root);
  return read_chat(reader, body, rules);
}

Checked<TokenizeRequest> parse_tokenize_request(std::string_view body, const RequestRules& rules) {
  Checked<json::object> root = parse_json_object(body);
  if (!root) return root.error();
  FieldReader reader(*root);
  TokenizeRequest request;
  if (reader.raw("messages") != nullptr) {
    Checked<ChatRequest> chat = read_chat(reader, body, rules);
    if (!chat) return chat.error();
    request.model = chat->common.model;
    request.chat = std::move(*chat);
    return request;
  }
  request.model = reader.text("model", 512).value_or("");
  const auto prompt = reader.text("prompt", kMaxBodyBytes);
  const auto content = reader.text("content", kMaxBodyBytes);  // llama-server's name
  if (!prompt && !content)
    reader.fail("prompt", "'prompt' is missing: a string (or 'messages', as for chat).");
  if (reader.error()) return *reader.error();
  request.prompt = prompt ? *prompt : *content;
  return request;
}

}  // namespace assay::serve
