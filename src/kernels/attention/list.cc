// Who can attend, in order. Adding a backend = its file + one line here.
#include "kernels/attention/cpu_plain.h"
#include "kernels/attention/reference.h"
#include "kernels/attention/runner.h"

namespace assay::kernels {

std::span<const AttentionRunner* const> attention_runners() {
  static const AttentionRunner* const kRunners[] = {
      attention_cpu_plain(),
      attention_reference(),
  };
  return kRunners;
}

}  // namespace assay::kernels
