#pragma once
// One function per subcommand: it adds itself to the app and sets *exit_code when it ran.
// Exit codes: 0 done, 1 the check that was asked for failed, 2 bad flags or input, 3 no proven plan, 4
// internal.
#include <CLI/App.hpp>

#include "serve/engine_process.h"

namespace assay::cli {

void add_text(CLI::App& app, int* exit_code);
void add_chat(CLI::App& app, int* exit_code);
void add_inspect(CLI::App& app, int* exit_code);
void add_prove(CLI::App& app, int* exit_code);
void add_prove_worker(CLI::App& app, int* exit_code);
void add_verify(CLI::App& app, int* exit_code);
void add_serve(CLI::App& app, int* exit_code);
// Hidden subcommands that `serve` starts: its door and its engine.
void add_serve_children(CLI::App& app, int* exit_code, serve::EngineLoader loader);

}  // namespace assay::cli
