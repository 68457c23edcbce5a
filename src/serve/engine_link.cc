#include "serve/engine_link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"

namespace assay::serve {

EngineLink::EngineLink(int control_fd, Handlers handlers)
    : control_(control_fd), handlers_(std::move(handlers)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(wake_.get() >= 0);
}

void EngineLink::start() {
  thread_ = std::thread([this] { run(); });
  thread_.detach();  // lives as long as the process
}

void EngineLink::introduce(int32_t tokenizer_size) {
  bool connected;
  {
    std::lock_guard lock(mutex_);
    tokenizer_size_ = tokenizer_size;
    connected = connected_;
  }
  if (connected) send(HelloMessage{tokenizer_size});
}

void EngineLink::send(const WireMessage& message) {
  const std::string frame = encode_wire(message);
  {
    std::lock_guard lock(mutex_);
    if (!connected_) return;
    outgoing_ += frame;
  }
  wake();
}

EngineState EngineLink::state() const {
  std::lock_guard lock(mutex_);
  return state_;
}

void EngineLink::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] ssize_t n = write(wake_.get(), &one, sizeof(one));
}

void EngineLink::run() {
  while (true) {
    bool has_output;
    {
      std::lock_guard lock(mutex_);
      has_output = !outgoing_.empty();
    }
    const short wire_events = static_cast<short>(POLLIN | (has_output ? POLLOUT : 0));
    pollfd fds[] = {{control_, POLLIN, 0}, {wake_.get(), POLLIN, 0}, {wire_.get(), wire_events, 0}};
    if (poll(fds, 3, -1) < 0) continue;
    if (fds[1].revents != 0) {
      uint64_t count;
      [[maybe_unused]] ssize_t n = read(wake_.get(), &count, sizeof(count));
    }
    if (wire_ && (fds[2].revents & (POLLIN | POLLHUP | POLLERR)) != 0) take_wire();
    if (wire_) flush();
    if (fds[0].revents != 0) take_control();
  }
}

void EngineLink::take_control() {
  std::optional<ControlMessage> message = receive_control(control_);
  if (!message || message->command == Command::stop) return handlers_.stop();
  if (message->command == Command::drain) handlers_.drain();
  if (message->command != Command::wire || !message->fd) return;
  if (wire_) lose("a new engine took its place");
  fcntl(message->fd.get(), F_SETFL, O_NONBLOCK);
  wire_ = std::move(message->fd);
  reader_ = WireReader();
  std::lock_guard lock(mutex_);
  connected_ = true;
  outgoing_.clear();
  state_.phase = "start";
  state_.fraction = 0;
  state_.fatal.clear();
  if (tokenizer_size_ > 0) outgoing_ = encode_wire(HelloMessage{tokenizer_size_});
}

void EngineLink::take_wire() {
  char block[65536];
  const ssize_t n = read(wire_.get(), block, sizeof(block));
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return lose("the engine's end of the wire closed");
  reader_.feed({block, static_cast<size_t>(n)});
  while (true) {
    Result<std::optional<WireMessage>> next = reader_.next();
    if (!next) return lose(next.reason());
    if (!next->has_value()) return;
    take(std::move(**next));
  }
}

void EngineLink::flush() {
  std::unique_lock lock(mutex_);
  if (outgoing_.empty()) return;
  const ssize_t n = ::send(wire_.get(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL);
  if (n > 0) outgoing_.erase(0, static_cast<size_t>(n));
  const bool broken = n < 0 && errno != EAGAIN && errno != EINTR;
  lock.unlock();
  if (broken) lose("the engine's end of the wire closed");
}

void EngineLink::take(WireMessage message) {
  if (auto* tokens = std::get_if<TokensMessage>(&message)) return handlers_.tokens(tokens->events);
  {
    std::lock_guard lock(mutex_);
    if (auto* stats = std::get_if<StatsMessage>(&message)) {
      state_.stats = stats->stats;
      return;
    }
    if (auto* progress = std::get_if<ProgressMessage>(&message)) {
      state_.phase = progress->phase;
      state_.fraction = progress->fraction;
    } else if (auto* loaded = std::get_if<LoadedMessage>(&message)) {
      state_.loaded = true;
      state_.phase = "ready";
      state_.fraction = 1;
      state_.card = *loaded;
    } else if (auto* fatal = std::get_if<FatalMessage>(&message)) {
      state_.fatal = fatal->reason;
    }
  }
  handlers_.changed();
}

void EngineLink::lose(const std::string& why) {
  log_error("the engine is lost: {}", why);
  wire_.reset();
  {
    std::lock_guard lock(mutex_);
    connected_ = false;
    outgoing_.clear();
    state_.loaded = false;
    state_.phase = "restart";
    state_.fraction = 0;
    state_.stats = {};
    ++state_.losses;
  }
  handlers_.lost();
  handlers_.changed();
}

}  // namespace assay::serve
