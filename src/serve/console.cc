#include "serve/console.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/log.h"

namespace assay::serve {
namespace {

constexpr int kBarWidth = 30;

void print(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

Console::Console(const DoorOptions& options)
    : model_(options.served_names.front()),
      has_key_(!options.api_keys.empty()),
      terminal_(isatty(STDERR_FILENO) == 1) {
  const bool any = options.host == "0.0.0.0" || options.host == "::";
  const bool v6 = options.host.find(':') != std::string::npos;
  const std::string host = any ? "127.0.0.1" : v6 ? "[" + options.host + "]" : options.host;
  url_ = fmt::format("{}://{}:{}", options.ssl_certfile.empty() ? "http" : "https", host, options.port);
}

void Console::listening() {
  log_info("listening on {}; the model {} is loading", url_, model_);
}

void Console::show(const EngineState& state) {
  std::lock_guard lock(mutex_);
  if (state.loaded) return ready(state);
  if (!state.fatal.empty()) return;  // the engine has said it in its own log line
  if (terminal_) return bar(state);
  if (state.phase == phase_) return;
  phase_ = state.phase;
  log_info("loading: {}", phase_);
}

void Console::bar(const EngineState& state) {
  const int filled = static_cast<int>(std::clamp(state.fraction, 0.0, 1.0) * kBarWidth);
  print(fmt::format("\r\033[K  {:<10} [{}{}] {:3.0f} %", state.phase,
                    std::string(static_cast<size_t>(filled), '#'),
                    std::string(static_cast<size_t>(kBarWidth - filled), '.'), state.fraction * 100));
  bar_open_ = true;
}

void Console::ready(const EngineState& state) {
  if (bar_open_) print("\r\033[K");
  bar_open_ = false;
  phase_ = "ready";
  print(fmt::format(
      "\nAssay serves {} ({}, {:.1f} MB of weights, context {}) at {}\nTry it:\n"
      "  curl -N {}/v1/chat/completions -H 'Content-Type: application/json' {}\\\n"
      "    -d '{{\"model\": \"{}\", \"stream\": true, \"messages\": [{{\"role\": \"user\", "
      "\"content\": \"Hello!\"}}]}}'\n\n",
      model_, state.card.architecture, static_cast<double>(state.card.weight_bytes) / 1e6,
      state.card.context_length, url_, url_, has_key_ ? "-H 'Authorization: Bearer KEY' " : "", model_));
}

}  // namespace assay::serve
