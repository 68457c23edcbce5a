#pragma once
// Workspace: the activations of one forward pass, taken in order and given back at the end of each block.
#include "base/arena.h"
#include "base/check.h"

namespace assay::model {

class Workspace {
 public:
  Workspace() = default;
  explicit Workspace(size_t floats) : buffer_(floats * sizeof(float)), floats_(floats) {}

  float* take(int64_t floats) {
    const size_t rounded = (static_cast<size_t>(floats) + 15) / 16 * 16;
    CHECK(used_ + rounded <= floats_, "workspace of {} floats is too small for {} more", floats_, rounded);
    float* p = buffer_.floats() + used_;
    used_ += rounded;
    return p;
  }

  // Gives back what was taken since its construction.
  class Frame {
   public:
    explicit Frame(Workspace& w) : workspace_(w), mark_(w.used_) {}
    ~Frame() { workspace_.used_ = mark_; }
    Frame(const Frame&) = delete;

   private:
    Workspace& workspace_;
    size_t mark_;
  };

 private:
  LazyBuffer buffer_;
  size_t floats_ = 0;
  size_t used_ = 0;
};

}  // namespace assay::model
