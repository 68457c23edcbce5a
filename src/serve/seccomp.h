#pragma once
// After the door is set up it can talk over the sockets it has, and nothing else.
#include "base/result.h"

namespace assay::serve {

// Applies to every thread of the process. From here on: no exec, no new process or thread, no opening of
// files, no new sockets but accepted ones; such calls fail with EPERM. A no-op in sanitizer builds, which
// need more calls.
Result<void> lock_down_door();

}  // namespace assay::serve
