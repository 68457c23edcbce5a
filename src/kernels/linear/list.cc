// Who can multiply by a stored matrix, in order. Adding a backend = its file + one line here.
#include <fmt/format.h>

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

std::string to_string(const LinearProblem& p) {
  return fmt::format("linear{{K {}, {}, {}}}", p.inputs, name_of(p.format), name_of(p.precision));
}

}  // namespace assay::kernels
