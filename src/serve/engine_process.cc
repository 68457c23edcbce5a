#include "serve/engine_process.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "base/log.h"
#include "serve/child.h"
#include "serve/wire.h"

namespace assay::serve {
namespace {

constexpr std::chrono::milliseconds kStatsInterval{
    50};  // at most 20 messages a second, and only when changed

// Our end of the wire. The door may die and come back: then the supervisor hands over a new descriptor.
class WireEnd {
 public:
  void replace(Fd fd) {
    std::lock_guard lock(mutex_);
    fd_ = std::make_shared<Fd>(std::move(fd));
    changed_.notify_all();
  }
  // Waits for a wire other than `old`.
  std::shared_ptr<Fd> wait_for_new(const std::shared_ptr<Fd>& old) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return fd_ != nullptr && fd_ != old; });
    return fd_;
  }
  // Whole frames, one at a time. Without a door they are dropped: nobody waits for them.
  void send(const WireMessage& message) {
    const std::string frame = encode_wire(message);
    std::lock_guard lock(mutex_);
    size_t done = 0;
    while (fd_ && done < frame.size()) {
      const ssize_t n = ::send(fd_->get(), frame.data() + done, frame.size() - done, MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return;
      done += static_cast<size_t>(n);
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Fd> fd_;
};

class EngineProcess {
 public:
  explicit EngineProcess(ServeOptions options) : options_(std::move(options)) {}

  int run(const EngineLoader& loader) {
    std::thread([this] { follow_supervisor(); }).detach();
    std::thread([this] { read_wire(); }).detach();
    const int32_t tokenizer_size = wait_for_hello();
    Result<LoadedPort> loaded = loader(
        options_.engine, tokenizer_size,
        [this](std::span<const engine::TokenEvent> events) { send_events(events); },
        [this](const std::string& phase, double fraction) {
          wire_.send(ProgressMessage{phase, std::clamp(fraction, 0.0, 1.0)});
        });
    if (!loaded) {
      log_error("{}", loaded.reason());
      wire_.send(FatalMessage{loaded.reason()});
      return 2;
    }
    announce(std::move(*loaded));
    std::thread([this] { report_stats(); }).detach();
    engine_->run(std::stop_token());
    return 0;
  }

 private:
  // The control socket: new wires, and the order to stop. Its end means that the supervisor is gone.
  void follow_supervisor() {
    while (std::optional<ControlMessage> message = receive_control(kControlFd)) {
      if (message->command == Command::wire && message->fd) wire_.replace(std::move(message->fd));
      if (message->command == Command::stop) break;
    }
    _exit(0);
  }

  int32_t wait_for_hello() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return tokenizer_size_ > 0; });
    return tokenizer_size_;
  }

  void announce(LoadedPort loaded) {
    std::lock_guard lock(mutex_);
    engine_ = std::move(loaded.engine);
    card_ = LoadedMessage{loaded.card.architecture, loaded.card.vocab_size, loaded.card.context_length,
                          loaded.card.weight_bytes};
    wire_.send(card_);
    send_control(kControlFd, Command::loaded);
  }

  void read_wire() {
    std::shared_ptr<Fd> fd;
    while (true) {
      fd = wire_.wait_for_new(fd);
      WireReader reader;
      char block[65536];
      ssize_t n;
      while ((n = read(fd->get(), block, sizeof(block))) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) break;
        reader.feed({block, static_cast<size_t>(n)});
        if (!take_messages(reader)) break;
      }
      shutdown(fd->get(), SHUT_RDWR);
      cancel_all();
    }
  }

  bool take_messages(WireReader& reader) {
    while (true) {
      Result<std::optional<WireMessage>> next = reader.next();
      if (!next) {
        log_error("the door broke the protocol: {}", next.reason());
        return false;
      }
      if (!next->has_value()) return true;
      take(std::move(**next));
    }
  }

  // The engine is called without our lock: its sink takes that lock too.
  void take(WireMessage message) {
    EnginePort* engine = known_engine();
    if (auto* hello = std::get_if<HelloMessage>(&message)) {
      greet(hello->tokenizer_size);
      if (engine != nullptr) wire_.send(card_);
    } else if (auto* submit = std::get_if<SubmitMessage>(&message)) {
      if (engine == nullptr) return;
      remember(submit->request.id);
      engine->submit(std::move(submit->request));
    } else if (auto* cancel = std::get_if<CancelMessage>(&message)) {
      if (engine != nullptr) engine->cancel(cancel->id);
    }
  }

  EnginePort* known_engine() {
    std::lock_guard lock(mutex_);
    return engine_.get();
  }
  void greet(int32_t tokenizer_size) {
    std::lock_guard lock(mutex_);
    tokenizer_size_ = tokenizer_size;
    last_stats_.reset();  // a new door has seen none
    changed_.notify_all();
  }
  void remember(engine::RequestId id) {
    std::lock_guard lock(mutex_);
    alive_.insert(id);
  }

  void cancel_all() {
    std::vector<engine::RequestId> ids;
    {
      std::lock_guard lock(mutex_);
      ids.assign(alive_.begin(), alive_.end());
    }
    EnginePort* engine = known_engine();
    for (engine::RequestId id : ids) engine->cancel(id);
  }

  void send_events(std::span<const engine::TokenEvent> events) {
    {
      std::lock_guard lock(mutex_);
      for (const engine::TokenEvent& e : events)
        if (e.finish != engine::FinishReason::none) alive_.erase(e.request);
    }
    while (!events.empty()) {
      const auto part = events.first(std::min(events.size(), kWireMaxEvents));
      wire_.send(TokensMessage{{part.begin(), part.end()}});
      events = events.subspan(part.size());
    }
  }

  void report_stats() {
    while (true) {
      std::this_thread::sleep_for(kStatsInterval);
      const engine::EngineStats now = engine_->stats();
      {
        std::lock_guard lock(mutex_);
        if (last_stats_ == now) continue;
        last_stats_ = now;
      }
      wire_.send(StatsMessage{now});
    }
  }

  ServeOptions options_;
  WireEnd wire_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int32_t tokenizer_size_ = 0;
  std::unique_ptr<EnginePort> engine_;
  LoadedMessage card_;
  std::unordered_set<engine::RequestId> alive_;
  std::optional<engine::EngineStats> last_stats_;
};

}  // namespace

int run_engine_process(const EngineLoader& loader) {
  Result<ServeOptions> options = begin_child("engine");
  if (!options) {
    log_error("{}", options.reason());
    return 2;
  }
  // Threads live until the process ends, so the object does too.
  static EngineProcess process(std::move(*options));
  const int code = process.run(loader);
  _exit(code);
}

}  // namespace assay::serve
