#pragma once
// Door: the process that talks to clients. It parses untrusted bytes, owns sockets, text and journals, and
// can do nothing else once it is set up (serve/seccomp.h).

namespace assay::serve {

// Body of the hidden subcommand; returns the exit code.
int run_door_process();

}  // namespace assay::serve
