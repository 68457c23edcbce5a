#pragma once
// One function per subcommand: it adds itself to the app and sets *exit_code when it ran.
// Exit codes: 0 done, 1 the check that was asked for failed, 2 bad flags or input, 3 no proven plan, 4 internal.
#include <CLI/App.hpp>

namespace assay::cli {

void add_text(CLI::App& app, int* exit_code);

}  // namespace assay::cli
