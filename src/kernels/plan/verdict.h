#pragma once
// Verdict: a runner says yes in silence, or no with a reason that a person can read.
#include <string>
#include <utility>

namespace assay::kernels {

class [[nodiscard]] Verdict {
 public:
  static Verdict yes() { return Verdict(""); }
  static Verdict no(std::string reason) { return Verdict(std::move(reason)); }
  explicit operator bool() const { return reason_.empty(); }
  const std::string& reason() const { return reason_; }

 private:
  explicit Verdict(std::string reason) : reason_(std::move(reason)) {}
  std::string reason_;
};

}  // namespace assay::kernels
