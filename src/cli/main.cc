// assay: one binary. Each subcommand lives in a file of its own; this one only lists them.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/commands.h"

int main(int argc, char** argv) {
  CLI::App app{"Assay serves Mixture-of-Experts language models in 4-bit formats."};
  app.set_version_flag("--version", "assay " ASSAY_VERSION);
  app.require_subcommand(1);
  int exit_code = 0;
  assay::cli::add_serve(app, &exit_code);
  assay::cli::add_chat(app, &exit_code);
  assay::cli::add_inspect(app, &exit_code);
  assay::cli::add_prove(app, &exit_code);
  assay::cli::add_prove_worker(app, &exit_code);
  assay::cli::add_verify(app, &exit_code);
  assay::cli::add_text(app, &exit_code);
  assay::cli::add_serve_children(app, &exit_code, assay::serve::load_real_engine);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? 0 : 2;
  }
  return exit_code;
}
