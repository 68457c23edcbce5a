#pragma once
// Supervisor: the process the operator started. It parses no request: it opens the listening socket, starts
// door and engine, joins them by a socket pair, restarts the one that dies, and passes signals on as
// commands.
#include "serve/options.h"

namespace assay::serve {

// Names of the hidden subcommands that the supervisor executes.
inline constexpr const char* kDoorCommand = "__door";
inline constexpr const char* kEngineCommand = "__engine";

// Returns the exit code of `assay serve`.
int run_supervisor(const ServeOptions& options);

}  // namespace assay::serve
