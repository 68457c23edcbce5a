// `assay serve` (and `launch_server`): flags to options, then the supervisor. Its hidden helpers are the door
// and the engine, which the supervisor starts.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/model_argument.h"
#include "cli/serve_flags.h"
#include "serve/door.h"
#include "serve/supervisor.h"

namespace assay::cli {
namespace {

Result<void> read_keys(ServeArguments* arguments) {
  std::vector<std::string>& keys = arguments->options.door.api_keys;
  if (const char* key = std::getenv("ASSAY_API_KEY"); key != nullptr && *key != '\0') keys.emplace_back(key);
  for (const std::string& path : arguments->key_files) {
    std::ifstream file(path);
    if (!file) return Error{fmt::format("--api-key-file {}: cannot be read", path)};
    const size_t before = keys.size();
    for (std::string line; std::getline(file, line);) {
      while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
      if (!line.empty()) keys.push_back(line);
    }
    if (keys.size() == before) return Error{fmt::format("--api-key-file {}: no key in it", path)};
  }
  return {};
}

Result<serve::ServeOptions> complete_options(ServeArguments arguments) {
  serve::ServeOptions& options = arguments.options;
  Result<checkpoint::ModelPath> model = find_model(arguments.model);
  if (!model) return model.error();
  options.door.model_path = options.engine.model_path = model->folder;
  if (options.door.served_names.empty()) options.door.served_names.push_back(model->name);
  if (options.door.ssl_certfile.empty() != options.door.ssl_keyfile.empty())
    return Error{"--ssl-certfile and --ssl-keyfile go together; one of them is missing"};
  Result<void> keys = read_keys(&arguments);
  if (!keys) return keys.error();
  return options;
}

int serve_command(const std::vector<std::string>& words) {
  ServeArguments arguments = parse_serve_arguments(words);
  if (arguments.help) {
    std::fputs(serve_help().c_str(), stdout);
    return 0;
  }
  for (const std::string& note : arguments.notes) log_warning("{}", note);
  for (const std::string& refusal : arguments.refusals) log_error("{}", refusal);
  if (!arguments.refusals.empty()) return 2;
  Result<serve::ServeOptions> options = complete_options(std::move(arguments));
  if (!options) {
    log_error("{}", options.reason());
    return 2;
  }
  return serve::run_supervisor(*options);
}

}  // namespace

void add_serve(CLI::App& app, int* exit_code) {
  // The flag table parses the rest of the line: CLI11 knows neither -tp nor three names for one flag.
  CLI::App* command =
      app.add_subcommand("serve", "Serve a model over an OpenAI-compatible API")->alias("launch_server");
  command->prefix_command();
  command->set_help_flag();
  command->callback([=] { *exit_code = serve_command(command->remaining()); });
}

void add_serve_children(CLI::App& app, int* exit_code, serve::EngineLoader loader) {
  app.add_subcommand(serve::kDoorCommand, "")->group("")->callback([=] {
    *exit_code = serve::run_door_process();
  });
  app.add_subcommand(serve::kEngineCommand, "")->group("")->callback([=] {
    *exit_code = serve::run_engine_process(loader);
  });
}

}  // namespace assay::cli
