// assay text encode|decode|render: the text half of serving by itself, as a filter over JSON lines.
#include <fmt/format.h>

#include <functional>
#include <iostream>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/model_argument.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace assay::cli {
namespace {

using text::jinja::Value;

struct TextOptions {
  std::string model;
  std::string chat_template;
};

// One line in, the object to print; an error belongs to that line only.
using LineFunction = std::function<Result<Value>(const Value& line)>;

Value list_of(const std::vector<int32_t>& ids) {
  std::vector<Value> out;
  for (const int32_t id : ids) out.emplace_back(int64_t{id});
  return Value::list(std::move(out));
}

Result<Value> encode_line(const text::Tokenizer& tokenizer, const Value& line) {
  const Value* content = line.find("text");
  const Value* mode = line.find("added_tokens");
  if (content == nullptr || !content->is_string()) return Error{"expected {\"text\": \"...\"}"};
  auto added = text::AddedTokens::all;
  if (mode != nullptr) {
    const std::string name = mode->is_string() ? mode->as_string().bytes() : "";
    if (name == "non_special")
      added = text::AddedTokens::non_special;
    else if (name == "none")
      added = text::AddedTokens::none;
    else if (name != "all")
      return Error{"added_tokens must be \"all\", \"non_special\" or \"none\""};
  }
  Value out;
  out.set("ids", list_of(tokenizer.encode(content->as_string().view(), added)));
  return out;
}

Result<Value> decode_line(const text::Tokenizer& tokenizer, const Value& line) {
  const Value* given = line.find("ids");
  const Value* skip = line.find("skip_special_tokens");
  if (given == nullptr || !given->is_list()) return Error{"expected {\"ids\": [1, 2, ...]}"};
  if (skip != nullptr && !skip->is_bool()) return Error{"skip_special_tokens must be true or false"};
  std::vector<int32_t> ids;
  for (const Value& id : given->items()) {
    if (!id.is_int() || id.as_int() < 0 || id.as_int() > INT32_MAX)
      return Error{"ids must be integers from 0"};
    ids.push_back(static_cast<int32_t>(id.as_int()));
  }
  Value out;
  out.set("text", Value(tokenizer.decode(ids, skip != nullptr && skip->as_bool())));
  return out;
}

Result<bool> take_flag(Value* line, std::string_view name, bool otherwise) {
  const Value* found = line->find(name);
  if (found == nullptr) return otherwise;
  if (!found->is_bool()) return Error{fmt::format("{} must be true or false", name)};
  const bool value = found->as_bool();
  line->erase(name);
  return value;
}

Value take_value(Value* line, std::string_view name) {
  const Value* found = line->find(name);
  if (found == nullptr) return {};
  const Value value = *found;
  line->erase(name);
  return value;
}

Result<Value> render_line(const text::Tokenizer& tokenizer, const text::ChatTemplate& chat,
                          const Value& line) {
  Value rest = line;
  text::ChatInput input;
  input.messages = take_value(&rest, "messages");
  input.tools = take_value(&rest, "tools");
  input.documents = take_value(&rest, "documents");
  const auto go_on = take_flag(&rest, "continue_final_message", false);
  if (!go_on) return go_on.error();
  const auto generation = take_flag(&rest, "add_generation_prompt", !*go_on);
  if (!generation) return generation.error();
  input.continue_final_message = *go_on;
  input.add_generation_prompt = *generation;
  input.kwargs = rest;
  const auto prompt = chat.render(input);
  if (!prompt) return prompt.error();
  const auto ids = chat.encode(input, tokenizer);
  if (!ids) return ids.error();
  Value out;
  out.set("prompt", Value(*prompt));
  out.set("ids", list_of(*ids));
  return out;
}

// Runs `each` over the lines of stdin. 1 if a line was bad, else 0.
int run_lines(const LineFunction& each) {
  int code = 0;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    Result<Value> out = Error{"a line must be a JSON object"};
    const auto parsed = text::jinja::value_from_json(line);
    if (!parsed)
      out = parsed.error();
    else if (parsed->is_dict())
      out = each(*parsed);
    Value shown;
    if (out) {
      shown = *out;
    } else {
      code = 1;
      shown.set("error", Value(out.reason()));
    }
    const auto json = text::jinja::to_json(shown);
    std::cout << (json ? *json : R"({"error": "no JSON form"})") << '\n';
    std::cout.flush();
  }
  return code;
}

// Loads what the command needs, or says on stderr why it cannot; then runs.
int run_text(const TextOptions& options, bool with_template,
             const std::function<Result<Value>(const text::Tokenizer&, const text::ChatTemplate*,
                                               const Value&)>& each) {
  const auto fail = [](const std::string& reason) {
    std::cerr << "assay text: " << reason << '\n';
    return 2;
  };
  const auto model = find_model(options.model);
  if (!model) return fail(model.reason());
  const auto tokenizer = text::Tokenizer::load(model->folder);
  if (!tokenizer) return fail(tokenizer.reason());
  std::optional<text::ChatTemplate> chat;
  if (with_template) {
    auto loaded = text::ChatTemplate::load(model->folder, options.chat_template);
    if (!loaded) return fail(loaded.reason());
    chat.emplace(std::move(*loaded));
  }
  return run_lines([&](const Value& line) { return each(*tokenizer, chat ? &*chat : nullptr, line); });
}

}  // namespace

void add_text(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<TextOptions>();
  CLI::App* text =
      app.add_subcommand("text", "Tokenise, detokenise or render chats: JSON lines in, JSON lines out");
  text->require_subcommand(1);
  const auto add = [&](const char* name, const char* help) {
    CLI::App* command = text->add_subcommand(name, help);
    command->add_option("--model,--model-path", options->model,
                        "Model folder; the embedded model if left out");
    return command;
  };
  add("encode", R"({"text": ..., "added_tokens": "all|non_special|none"} -> {"ids": [...]})")->callback([=] {
    *exit_code = run_text(*options, false,
                          [](const auto& t, const auto*, const Value& v) { return encode_line(t, v); });
  });
  add("decode", R"({"ids": [...], "skip_special_tokens": bool} -> {"text": ...})")->callback([=] {
    *exit_code = run_text(*options, false,
                          [](const auto& t, const auto*, const Value& v) { return decode_line(t, v); });
  });
  CLI::App* render =
      add("render", R"({"messages": [...], "tools": [...], ...} -> {"prompt": ..., "ids": [...]})");
  render->add_option("--chat-template", options->chat_template,
                     "A Jinja file instead of the model's own template");
  render->callback([=] {
    *exit_code = run_text(*options, true,
                          [](const auto& t, const auto* c, const Value& v) { return render_line(t, *c, v); });
  });
}

}  // namespace assay::cli
