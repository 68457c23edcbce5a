#pragma once
// EngineLink: the door's end of the wire, and its control socket to the supervisor. One thread; the engine
// may die and come back on a new wire.
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "serve/child.h"
#include "serve/wire.h"

namespace assay::serve {

struct EngineState {
  bool loaded = false;  // serving: the engine said so, after its canary
  std::string phase = "start";
  double fraction = 0;
  LoadedMessage card;
  engine::EngineStats stats;
  std::string fatal;    // why it cannot load
  uint64_t losses = 0;  // how often a wire to a living engine broke
};

class EngineLink {
 public:
  struct Handlers {  // all run on the link's thread
    std::function<void(std::span<const engine::TokenEvent>)> tokens;
    std::function<void()> lost;     // every request that was with the engine is lost
    std::function<void()> changed;  // phase, loaded or fatal
    std::function<void()> drain;
    std::function<void()> stop;  // must end the process
  };

  EngineLink(int control_fd, Handlers handlers);

  void start();
  // Once the tokenizer is known; the engine waits for it before it loads.
  void introduce(int32_t tokenizer_size);
  // Queued; dropped when the wire is broken (then `lost` follows).
  void send(const WireMessage& message);
  EngineState state() const;

 private:
  void run();
  void take_control();
  void take_wire();
  void flush();
  void take(WireMessage message);
  void lose(const std::string& why);
  void wake();

  int control_;
  Handlers handlers_;
  Fd wake_;
  Fd wire_;  // link thread only
  WireReader reader_;
  mutable std::mutex mutex_;
  std::string outgoing_;
  bool connected_ = false;
  int32_t tokenizer_size_ = 0;
  EngineState state_;
  std::thread thread_;
};

}  // namespace assay::serve
