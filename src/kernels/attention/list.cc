// Who can attend, in order. Adding a backend = its file + one line here.
#include <fmt/format.h>

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

std::string to_string(const AttentionProblem& p) {
  return fmt::format("attention{{{} heads, {} kv heads of {}, pages of {}, {}}}", p.heads, p.kv_heads,
                     p.head_dim, p.page_size, name_of(p.precision));
}

}  // namespace assay::kernels
