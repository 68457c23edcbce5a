#include "serve/supervisor.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/log.h"
#include "serve/child.h"

namespace assay::serve {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kListenBacklog = 4096;
constexpr int kMostFailedStarts = 5;        // in a row, without serving in between
constexpr milliseconds kFirstBackoff{200};  // doubles with each failed start
constexpr milliseconds kLastBackoff{10000};

Result<Fd> open_listener(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int rc = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (rc != 0) return Error{fmt::format("--host {}: {}", host, gai_strerror(rc))};
  std::string why = "no address";
  Fd listener;
  for (addrinfo* a = list; a != nullptr && !listener; a = a->ai_next) {
    Fd fd(socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol));
    const int on = 1;
    if (fd) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (fd && bind(fd.get(), a->ai_addr, a->ai_addrlen) == 0 && listen(fd.get(), kListenBacklog) == 0)
      listener = std::move(fd);
    else
      why = std::strerror(errno);
  }
  freeaddrinfo(list);
  if (!listener)
    return Error{fmt::format("cannot listen on {}:{}: {}; another --port may be free", host, port, why)};
  return listener;
}

int bound_port(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

struct Child {
  const char* command;
  pid_t pid = -1;
  Fd control;
  int failed_starts = 0;
  std::optional<Clock::time_point> restart_at;
};

std::string describe_exit(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

class Supervisor {
 public:
  Supervisor(std::string options_json, int shutdown_timeout_s, Fd listener)
      : options_json_(std::move(options_json)),
        shutdown_timeout_s_(shutdown_timeout_s),
        listener_(std::move(listener)) {}

  int run() {
    open_signals();
    start(door_, listener_.get());
    start(engine_, -1);
    connect();
    while (!exit_code_) {
      wait_for_something();
      take_signals();
      take_control(door_);
      take_control(engine_);
      reap();
      restart_due();
      if (deadline_ && Clock::now() >= *deadline_) stop_now(0);
    }
    stop_children();
    return *exit_code_;
  }

 private:
  void open_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (int s : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, s);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    signals_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    signal(SIGPIPE, SIG_IGN);
  }

  void start(Child& child, int listen) {
    child.restart_at.reset();
    Result<SocketPair> pair = make_socket_pair(SOCK_SEQPACKET);
    Result<pid_t> pid = pair ? spawn_child(child.command, options_json_, pair->right.get(), listen)
                             : Result<pid_t>(pair.error());
    if (!pid) {
      log_error("cannot start {}: {}", child.command, pid.reason());
      return stop_now(4);
    }
    child.pid = *pid;
    child.control = std::move(pair->left);
  }

  // A fresh pair for both ends: a wire that lost its peer is never used again.
  void connect() {
    if (door_.pid < 0 || engine_.pid < 0) return;
    Result<SocketPair> pair = make_socket_pair(SOCK_STREAM);
    if (!pair) {
      log_error("cannot join door and engine: {}", pair.reason());
      return stop_now(4);
    }
    send_control(door_.control.get(), Command::wire, pair->left.get());
    send_control(engine_.control.get(), Command::wire, pair->right.get());
  }

  void wait_for_something() {
    int timeout = -1;
    const auto until = [&](const std::optional<Clock::time_point>& when) {
      if (!when) return;
      const auto left = std::chrono::duration_cast<milliseconds>(*when - Clock::now()).count() + 1;
      const int ms = static_cast<int>(std::max<int64_t>(left, 0));
      timeout = timeout < 0 ? ms : std::min(timeout, ms);
    };
    until(door_.restart_at);
    until(engine_.restart_at);
    until(deadline_);
    pollfd fds[] = {
        {signals_.get(), POLLIN, 0}, {door_.control.get(), POLLIN, 0}, {engine_.control.get(), POLLIN, 0}};
    poll(fds, 3, timeout);
  }

  void take_signals() {
    signalfd_siginfo info;
    while (read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
      const int s = static_cast<int>(info.ssi_signo);
      if (s == SIGCHLD || s == SIGHUP) continue;
      if (draining_) {
        log_warning("second signal: stopping now");
        return stop_now(0);
      }
      draining_ = true;
      // A second more than the door's own patience, in case it hangs.
      deadline_ = Clock::now() + std::chrono::seconds(shutdown_timeout_s_ + 1);
      log_info("signal {}: draining for at most {} s; a second signal stops at once", s, shutdown_timeout_s_);
      if (door_.pid < 0 || !send_control(door_.control.get(), Command::drain)) stop_now(0);
    }
  }

  void take_control(Child& child) {
    pollfd fd{child.control.get(), POLLIN, 0};
    if (!child.control || poll(&fd, 1, 0) <= 0) return;
    const std::optional<ControlMessage> message = receive_control(child.control.get());
    if (!message) {
      child.control.reset();  // it is dying; reap() learns how
    } else if (message->command == Command::loaded) {
      child.failed_starts = 0;
    }
  }

  void reap() {
    int status = 0;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
      if (pid == door_.pid) died(door_, status);
      if (pid == engine_.pid) died(engine_, status);
    }
  }

  void died(Child& child, int status) {
    child.pid = -1;
    child.control.reset();
    const bool is_door = &child == &door_;
    const std::string how = describe_exit(status);
    if (is_door && draining_) return stop_now(0);
    // Bad input and "no proven plan" do not heal by trying again.
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 2 || WEXITSTATUS(status) == 3))
      return stop_now(WEXITSTATUS(status));
    const char* name = is_door ? "door" : "engine";
    if (++child.failed_starts > kMostFailedStarts) {
      log_error("the {} died {} times without serving ({}): giving up", name, child.failed_starts, how);
      return stop_now(4);
    }
    const milliseconds wait = std::min(kFirstBackoff * (1 << (child.failed_starts - 1)), kLastBackoff);
    log_error("the {} died ({}); restarting it in {} ms", name, how, wait.count());
    child.restart_at = Clock::now() + wait;
  }

  void restart_due() {
    for (Child* child : {&door_, &engine_}) {
      if (exit_code_ || !child->restart_at || Clock::now() < *child->restart_at) continue;
      start(*child, child == &door_ ? listener_.get() : -1);
      if (!exit_code_) connect();
    }
  }

  void stop_now(int code) {
    if (!exit_code_) exit_code_ = code;
  }

  void stop_children() {
    listener_.reset();
    for (Child* child : {&door_, &engine_})
      if (child->pid > 0) send_control(child->control.get(), Command::stop);
    const Clock::time_point patience = Clock::now() + std::chrono::seconds(2);
    for (Child* child : {&door_, &engine_}) {
      while (child->pid > 0 && waitpid(child->pid, nullptr, WNOHANG) == 0) {
        if (Clock::now() > patience) kill(child->pid, SIGKILL);
        usleep(2000);
      }
    }
  }

  std::string options_json_;
  int shutdown_timeout_s_;
  Fd listener_;
  Fd signals_;
  Child door_{kDoorCommand, -1, {}, 0, {}};
  Child engine_{kEngineCommand, -1, {}, 0, {}};
  bool draining_ = false;
  std::optional<Clock::time_point> deadline_;
  std::optional<int> exit_code_;
};

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0;
}

}  // namespace

int run_supervisor(const ServeOptions& given) {
  ServeOptions options = given;
  set_log_name("supervisor");
  Result<Fd> listener = open_listener(options.door.host, options.door.port);
  if (!listener) {
    log_error("{}", listener.reason());
    return 2;
  }
  options.door.port = bound_port(listener->get());
  if (!is_loopback(options.door.host) && options.door.api_keys.empty())
    log_warning(
        "listening on {} without an API key: anyone who reaches this port may use the model; "
        "--api-key-file FILE sets one",
        options.door.host);
  return Supervisor(to_json(options), options.door.shutdown_timeout_s, std::move(*listener)).run();
}

}  // namespace assay::serve
