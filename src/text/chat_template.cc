#include "text/chat_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "text/chat_messages.h"
#include "text/jinja/template.h"

namespace assay::text {
namespace {

using jinja::String;
using jinja::Value;

constexpr size_t kMaxFile = 16u << 20;  // bytes of a configuration file

std::optional<std::string> read_file(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error || size > kMaxFile) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::stringstream out;
  out << file.rdbuf();
  if (!file) return std::nullopt;
  return out.str();
}

// The JSON object in a file; none if there is no such file.
Result<Value> read_json(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return Value();
  auto value = jinja::value_from_json(*text);
  if (!value) return Error{fmt::format("{}: {}", path, value.reason())};
  return value;
}

// A chat_template entry: a text, or a list of {name, template} whose "default" counts.
std::optional<std::string> template_of(const Value& config) {
  const Value* entry = config.find("chat_template");
  if (entry == nullptr) return std::nullopt;
  if (entry->is_string()) return entry->as_string().bytes();
  if (!entry->is_list()) return std::nullopt;
  const Value* chosen = nullptr;
  for (const Value& option : entry->items()) {
    const Value* name = option.find("name");
    if (chosen == nullptr || (name != nullptr && name->is_string() && name->as_string().view() == "default"))
      chosen = option.find("template");
  }
  return chosen != nullptr && chosen->is_string() ? std::optional(chosen->as_string().bytes()) : std::nullopt;
}

// "x_token" entries: texts, or objects with a content.
void add_special_tokens(const Value& config, ChatTemplate::SpecialTokens* out) {
  if (!config.is_dict()) return;
  for (const auto& [key, value] : config.entries()) {
    const std::string& name = key.as_string().bytes();
    if (!name.ends_with("_token")) continue;
    const Value* content = value.is_dict() ? value.find("content") : &value;
    if (content != nullptr && content->is_string()) out->emplace(name, content->as_string().bytes());
  }
}

RenderFailure kind_of(const jinja::Failure& failure) {
  if (failure.kind == jinja::FailureKind::raised) return RenderFailure::raised;
  if (failure.kind == jinja::FailureKind::budget) return RenderFailure::budget;
  return RenderFailure::failed;
}

}  // namespace

struct ChatTemplate::Impl {
  jinja::Template program;
  std::string source;
  SpecialTokens special_tokens;
  bool string_arguments = false;

  Result<String> render(const ChatInput& input, RenderFailure* failure) const;
  Value context(const ChatInput& input, Value messages) const;
  bool probe_string_arguments() const;
};

ChatTemplate::ChatTemplate(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

const std::string& ChatTemplate::source() const {
  return impl_->source;
}
const ChatTemplate::SpecialTokens& ChatTemplate::special_tokens() const {
  return impl_->special_tokens;
}
bool ChatTemplate::wants_string_arguments() const {
  return impl_->string_arguments;
}

Result<ChatTemplate> ChatTemplate::parse(std::string source, SpecialTokens special_tokens) {
  auto program = jinja::Template::parse(source);
  if (!program) return program.error();
  auto impl = std::make_unique<Impl>(Impl{std::move(*program), std::move(source), std::move(special_tokens)});
  impl->string_arguments = impl->probe_string_arguments();
  tzset();  // strftime_now must not have to read the time zone's file when it is called: the door may open
            // none
  return ChatTemplate(std::move(impl));
}

Result<ChatTemplate> ChatTemplate::load(const std::string& model_dir, const std::string& override_file) {
  const auto config = read_json(model_dir + "/tokenizer_config.json");
  if (!config) return config.error();
  const auto map = read_json(model_dir + "/special_tokens_map.json");
  if (!map) return map.error();
  SpecialTokens special_tokens;
  add_special_tokens(*config, &special_tokens);
  add_special_tokens(*map, &special_tokens);
  std::optional<std::string> source;
  std::string from = override_file;
  if (!override_file.empty()) {
    source = read_file(override_file);
    if (!source) return Error{fmt::format("cannot read the chat template '{}'", override_file)};
  }
  if (!source) source = read_file(from = model_dir + "/chat_template.jinja");
  if (!source) {
    const auto json = read_json(from = model_dir + "/chat_template.json");
    if (!json) return json.error();
    source = template_of(*json);
  }
  if (!source) {
    from = model_dir + "/tokenizer_config.json";
    source = template_of(*config);
  }
  if (!source)
    return Error{
        fmt::format("'{}' has no chat template: expected chat_template.jinja, or chat_template in "
                    "tokenizer_config.json; give one with --chat-template FILE",
                    model_dir)};
  auto made = parse(std::move(*source), std::move(special_tokens));
  if (!made) return Error{fmt::format("{}: {}", from, made.reason())};
  return made;
}

Value ChatTemplate::Impl::context(const ChatInput& input, Value messages) const {
  Value out = Value::dict();
  for (const auto& [name, content] : special_tokens) out.set(name, Value::trusted(content));
  if (input.kwargs.is_dict())
    for (const auto& [name, value] : input.kwargs.entries())
      if (name.is_string()) out.set(name.as_string().view(), value);
  out.set("messages", std::move(messages));
  out.set("tools", input.tools);
  out.set("documents", input.documents);
  out.set("add_generation_prompt", Value(input.add_generation_prompt));
  return out;
}

Result<String> ChatTemplate::Impl::render(const ChatInput& input, RenderFailure* failure) const {
  RenderFailure ignored;
  RenderFailure& kind = failure != nullptr ? *failure : ignored;
  kind = RenderFailure::refused;
  auto prepared = prepare_messages(input, source, string_arguments);
  if (!prepared) return prepared.error();
  jinja::RenderOptions options;
  options.now = input.now;
  jinja::Rendered rendered = program.render(context(input, std::move(prepared->messages)), options);
  if (auto* failed = std::get_if<jinja::Failure>(&rendered)) {
    kind = kind_of(*failed);
    return Error{std::move(failed->message)};
  }
  String& text = std::get<String>(rendered);
  if (input.continue_final_message) {
    auto cut = cut_at_continuation(text, *prepared);
    if (!cut) return cut.error();
    text = std::move(*cut);
  }
  kind = RenderFailure::none;
  return std::move(text);
}

// Renders a tool call both ways. The string is wanted only where it is printed as it is and the object is not
// taken.
bool ChatTemplate::Impl::probe_string_arguments() const {
  constexpr std::string_view kArguments = R"({"assay_probe": "1"})";
  const auto attempt = [&](Value arguments) -> std::string {
    Value function, call, user, assistant, tool;
    function.set("name", Value("probe"));
    function.set("arguments", std::move(arguments));
    call.set("id", Value("abcdefgh1"));
    call.set("type", Value("function"));
    call.set("function", std::move(function));
    user.set("role", Value("user"));
    user.set("content", Value("x"));
    assistant.set("role", Value("assistant"));
    assistant.set("content", Value(""));
    assistant.set("tool_calls", Value::list({call}));
    tool.set("role", Value("tool"));
    tool.set("tool_call_id", Value("abcdefgh1"));
    tool.set("name", Value("probe"));
    tool.set("content", Value("y"));
    ChatInput input;
    input.messages = Value::list({user, assistant, tool});
    input.parse_arguments = false;
    const auto text = render(input, nullptr);
    return text ? text->bytes() : std::string();
  };
  const std::string with_object = attempt(*jinja::value_from_json(kArguments));
  if (with_object.find("assay_probe") != std::string::npos &&
      with_object.find("{'assay_probe'") == std::string::npos)
    return false;
  return attempt(Value(kArguments)).find(kArguments) != std::string::npos;
}

Result<std::string> ChatTemplate::render(const ChatInput& input, RenderFailure* failure) const {
  auto text = impl_->render(input, failure);
  if (!text) return text.error();
  return text->bytes();
}

Result<std::vector<int32_t>> ChatTemplate::encode(const ChatInput& input, const Tokenizer& tokenizer,
                                                  RenderFailure* failure) const {
  const auto text = impl_->render(input, failure);
  if (!text) return text.error();
  // Control tokens are the special ones and those that the template itself works with; what neither knows
  // (file separators, fill-in-the-middle marks) is an ordinary token for the user as well.
  const auto allow = [this](std::string_view content, bool special) {
    return !special && impl_->source.find(content) == std::string::npos;
  };
  return tokenizer.encode_guarded(text->view(), text->user_ranges(), allow);
}

}  // namespace assay::text
