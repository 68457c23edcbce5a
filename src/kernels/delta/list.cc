// Who can run Gated DeltaNet, in order. Adding a backend = its file + one line here.
#include "kernels/delta/cpu_chunked.h"
#include "kernels/delta/cpu_plain.h"
#include "kernels/delta/reference.h"
#include "kernels/delta/runner.h"

namespace assay::kernels {

std::span<const DeltaRunner* const> delta_runners() {
  static const DeltaRunner* const kRunners[] = {
      delta_cpu_plain(),
      delta_cpu_chunked(),
      delta_reference(),
  };
  return kRunners;
}

}  // namespace assay::kernels
