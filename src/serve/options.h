#pragma once
// ServeOptions: everything `assay serve` was told. The supervisor hands it to its children as JSON over an
// inherited file, because a command line is readable by every user of the machine.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/load.h"

namespace assay::serve {

struct DoorOptions {
  std::string model_path;                 // a folder (resolved)
  std::string tokenizer_path;             // empty = model_path
  std::string chat_template;              // file; empty = the model's own
  std::vector<std::string> served_names;  // the first is shown; never empty
  std::string host = "127.0.0.1";
  int port = 30000;
  std::vector<std::string> api_keys;
  std::string ssl_certfile, ssl_keyfile;
  bool accept_any_model = false;
  bool sampling_from_model = true;  // generation_config.json; false = OpenAI's defaults
  int context_length = 0;           // 0 = the model's
  int max_queued_requests = 256;    // engine requests waiting beyond the running ones, then 429
  int max_running_requests = 64;
  int max_connections = 8192;
  int shutdown_timeout_s = 30;
  int http_threads = 2;
  std::string log_level = "info";
};

struct ServeOptions {
  DoorOptions door;
  engine::EngineOptions engine;
};

std::string to_json(const ServeOptions& options);
Result<ServeOptions> options_from_json(std::string_view json);

}  // namespace assay::serve
