#pragma once
// What the caller of a model decides before it is loaded.
#include <cstdint>
#include <string>

#include "kernels/plan/precision.h"

namespace assay::model {

struct ModelOptions {
  kernels::PrecisionClass precision = kernels::PrecisionClass::w4a32;
  std::string linear_backend = "auto";
  std::string moe_backend = "auto";
  std::string attention_backend = "auto";
  std::string delta_backend = "auto";
  std::string small_backend = "auto";
  std::string
      quantization;  // empty, or what the operator says the checkpoint is; contradicting tensors are refused
  bool borrow_weights =
      false;  // packing keeps the given bytes instead of copying them: they must outlive the model
  int threads = 1;
  int64_t max_rows = 512;  // of one batch
  int64_t context = 0;     // longest sequence; 0 = the model's max_positions
  int64_t page_size = 64;  // tokens per KV page
  int64_t pages = 0;       // KV pages
  int64_t state_slots = 0;

  void set_all_backends(const std::string& name) {
    linear_backend = moe_backend = attention_backend = delta_backend = small_backend = name;
  }
};

}  // namespace assay::model
