// Who can do the small operations, in order. Adding a backend = its file + one line here.
#include "kernels/small/cpu_plain.h"
#include "kernels/small/reference.h"
#include "kernels/small/runner.h"

namespace assay::kernels {

std::span<const SmallRunner* const> small_runners() {
  static const SmallRunner* const kRunners[] = {
      small_cpu_plain(),
      small_reference(),
  };
  return kRunners;
}

}  // namespace assay::kernels
