#include "text/chat_messages.h"

#include <fmt/format.h>

#include "text/jinja/library.h"

namespace assay::text {
namespace {

using jinja::String;
using jinja::Value;

// Trusted text: found again in the output only where it was not the user who wrote it. The space shows
// whether the template trims.
constexpr std::string_view kMark = "ASSAY_CONTINUES_HERE ";
constexpr std::string_view kBareMark = kMark.substr(0, kMark.size() - 1);

Value without_nulls(const Value& message) {
  std::vector<std::pair<Value, Value>> kept;
  for (const auto& [key, value] : message.entries())
    if (!value.is_none()) kept.emplace_back(key, value);
  return Value::dict(std::move(kept));
}

// The first of the known names that holds something goes to "reasoning_content", and to "thinking" unless
// that is set.
void copy_reasoning(Value* message) {
  for (const char* name : {"reasoning_content", "thinking", "reasoning"}) {
    const Value* found = message->find(name);
    if (found == nullptr || found->is_none()) continue;
    const Value reasoning = *found;
    message->set("reasoning_content", reasoning);
    const Value* thinking = message->find("thinking");
    if (thinking == nullptr || thinking->is_none()) message->set("thinking", reasoning);
    return;
  }
}

// tool_calls[].function.arguments (or tool_calls[].arguments): a JSON string with an object becomes that
// object.
Value parsed_call(const Value& call) {
  if (!call.is_dict()) return call;
  Value out = call;
  if (const Value* function = call.find("function"); function != nullptr && function->is_dict())
    out.set("function", parsed_call(*function));
  const Value* arguments = call.find("arguments");
  if (arguments == nullptr || !arguments->is_string()) return out;
  if (arguments->as_string().view().find_first_not_of(" \t\r\n") == std::string::npos) {
    out.set("arguments", Value::dict());
  } else if (auto object = jinja::value_from_json(arguments->as_string().view());
             object && object->is_dict()) {
    out.set("arguments", std::move(*object));
  }
  return out;
}

void parse_arguments(Value* message) {
  const Value* calls = message->find("tool_calls");
  if (calls == nullptr || !calls->is_list()) return;
  std::vector<Value> parsed;
  for (const Value& call : calls->items()) parsed.push_back(parsed_call(call));
  message->set("tool_calls", Value::list(std::move(parsed)));
}

Value marked(const Value& text) {
  String out = text.as_string();
  out.append(kMark, false);
  return Value(std::move(out));
}

// Puts the mark behind the field's text, or behind its last text part.
Result<void> mark_field(Value* message, const std::string& field, std::string* continued) {
  const Value* found = message->find(field);
  if (found == nullptr || (!found->is_string() && !found->is_list()))
    return Error{fmt::format("continue_final_message: the last message has no text in '{}'", field)};
  const Value content = *found;
  if (content.is_string()) {
    *continued = content.as_string().bytes();
    message->set(field, marked(content));
    return {};
  }
  std::vector<Value> parts = content.items();
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const Value* text = part->find("text");
    if (text == nullptr || !text->is_string()) continue;
    *continued = text->as_string().bytes();
    part->set("text", marked(*text));
    message->set(field, Value::list(std::move(parts)));
    return {};
  }
  return Error{fmt::format("continue_final_message: '{}' of the last message has no text part", field)};
}

Result<void> check_continuation(const ChatInput& input, std::string_view source) {
  if (input.add_generation_prompt)
    return Error{
        "continue_final_message and add_generation_prompt exclude each other: the first goes on with the "
        "last message, the second begins a new one"};
  if (input.messages.size() == 0) return Error{"continue_final_message needs a message to continue"};
  // Reasoning reaches the template under two names (copy_reasoning); either will do.
  const bool reasoning = input.continue_field == "reasoning_content" || input.continue_field == "thinking";
  const auto used = [&](std::string_view name) { return source.find(name) != source.npos; };
  if (reasoning ? !used("reasoning_content") && !used("thinking") : !used(input.continue_field))
    return Error{fmt::format("continue_final_message: this chat template does not use the field '{}'",
                             input.continue_field)};
  return {};
}

}  // namespace

Result<PreparedMessages> prepare_messages(const ChatInput& input, std::string_view source,
                                          bool string_arguments) {
  PreparedMessages out;
  if (!input.messages.is_sequence()) return Error{"messages must be a list"};
  if (input.continue_final_message)
    if (auto ok = check_continuation(input, source); !ok) return ok.error();
  std::vector<Value> messages;
  for (const Value& message : input.messages.items()) {
    if (!message.is_dict()) return Error{"each message must be an object"};
    Value made = input.drop_nulls ? without_nulls(message) : message;
    const bool last = input.continue_final_message && messages.size() + 1 == input.messages.size();
    if (last)
      if (auto ok = mark_field(&made, input.continue_field, &out.continued); !ok) return ok.error();
    copy_reasoning(&made);
    if (input.parse_arguments && !string_arguments) parse_arguments(&made);
    messages.push_back(std::move(made));
  }
  out.messages = Value::list(std::move(messages));
  return out;
}

Result<String> cut_at_continuation(const String& text, const PreparedMessages& prepared) {
  const auto stripped = [](std::string_view s) {
    return jinja::strip(String::trusted(std::string(s)), nullptr, true, true).bytes();
  };
  size_t mark = text.view().rfind(kBareMark);
  while (mark != std::string::npos && text.user_in(mark, mark + kBareMark.size()))
    mark = mark == 0 ? std::string::npos : text.view().rfind(kBareMark, mark - 1);
  if (mark == std::string::npos || text.view().find(stripped(prepared.continued)) == std::string::npos)
    return Error{"continue_final_message: the chat template does not print the last message as it is"};
  String out = text.substr(0, mark);
  if (text.view().substr(mark, kMark.size()) == kMark) return out;
  return jinja::strip(out, nullptr, false, true);
}

}  // namespace assay::text
