// Who can multiply by a stored matrix, in order. Adding a backend = its file + one line here.
#include "kernels/linear/cpu_plain.h"
#include "kernels/linear/reference.h"
#include "kernels/linear/runner.h"

namespace assay::kernels {

std::span<const LinearRunner* const> linear_runners() {
  static const LinearRunner* const kRunners[] = {
      linear_cpu_plain(),
      linear_reference(),
  };
  return kRunners;
}

}  // namespace assay::kernels
