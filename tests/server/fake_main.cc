// The program under test with the fake engine; src/cli/main.cc without the rest.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/commands.h"
#include "fake_engine.h"

int main(int argc, char** argv) {
  CLI::App app{"assay with a fake engine"};
  app.require_subcommand(1);
  int exit_code = 0;
  assay::cli::add_serve(app, &exit_code);
  assay::cli::add_serve_children(app, &exit_code, assay::tests::load_fake_engine);
  CLI11_PARSE(app, argc, argv);
  return exit_code;
}
