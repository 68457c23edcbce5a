#pragma once
// Console: what the operator sees while the server starts: a bar on a terminal, plain lines elsewhere, and
// the ready line with something to paste.
#include <mutex>
#include <string>

#include "serve/engine_link.h"
#include "serve/options.h"

namespace assay::serve {

class Console {
 public:
  explicit Console(const DoorOptions& options);
  void listening();
  void show(const EngineState& state);

 private:
  void bar(const EngineState& state);
  void ready(const EngineState& state);

  std::string url_, model_;
  bool has_key_, terminal_;
  std::mutex mutex_;
  std::string phase_;
  bool bar_open_ = false;
};

}  // namespace assay::serve
