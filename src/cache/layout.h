#pragma once
// CacheLayout: what a model needs to remember per page of tokens and per sequence. Sizes only; no kernel, no
// memory.
#include <cstdint>

namespace assay::cache {

struct CacheLayout {
  int64_t page_size = 0;    // tokens per page
  int64_t page_bytes = 0;   // of all layers' keys and values for one page
  int64_t state_bytes = 0;  // of all layers' recurrent state for one sequence; 0 = no recurrent layers
};

}  // namespace assay::cache
