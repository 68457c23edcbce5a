// Who can run Gated DeltaNet, in order. Adding a backend = its file + one line here.
#include <fmt/format.h>

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

std::string to_string(const DeltaProblem& p) {
  return fmt::format("delta{{{} key heads of {}, {} value heads of {}, conv {}, {}}}", p.key_heads, p.key_dim,
                     p.value_heads, p.value_dim, p.conv_width, name_of(p.precision));
}

}  // namespace assay::kernels
