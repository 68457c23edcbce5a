#include "serve/door.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>

#include "base/log.h"
#include "serve/child.h"
#include "serve/console.h"
#include "serve/door_app.h"
#include "serve/seccomp.h"

namespace assay::serve {
namespace {

using Clock = std::chrono::steady_clock;

void set_resource_limits() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const rlimit no_core{0, 0};  // a core file would hold prompts
  setrlimit(RLIMIT_CORE, &no_core);
}

class Door {
 public:
  explicit Door(const DoorOptions& options)
      : options_(options),
        console_(options),
        link_(kControlFd, handlers()),
        app_(
            options, [this](const WireMessage& m) { link_.send(m); }, [this] { return link_.state(); }) {}

  int run() {
    HttpOptions http{kListenFd, options_.http_threads, options_.max_connections, options_.ssl_certfile,
                     options_.ssl_keyfile};
    Result<std::unique_ptr<HttpServer>> server = HttpServer::start(http, &app_);
    if (!server) return give_up(server.reason());
    server_ = std::move(*server);
    app_.set_connection_count([this] { return server_->connections(); });
    link_.start();
    console_.listening();
    Result<ModelText> model = ModelText::load(options_);
    if (!model) return give_up(model.reason());
    const int32_t tokenizer_size = model->tokenizer.size();
    app_.set_model(std::make_shared<const ModelText>(std::move(*model)));
    Result<void> locked = lock_down_door();
    if (!locked) return give_up(locked.reason());
    send_control(kControlFd, Command::loaded);
    link_.introduce(tokenizer_size);
    wait_for_drain();
    finish_in_flight();
    return 0;
  }

 private:
  EngineLink::Handlers handlers() {
    return {[this](std::span<const engine::TokenEvent> events) { app_.take_events(events); },
            [this] { app_.engine_lost(); }, [this] { console_.show(link_.state()); },
            [this] { start_draining(); }, [] { _exit(0); }};
  }

  int give_up(const std::string& why) {
    log_error("{}", why);
    return 2;
  }

  void start_draining() {
    app_.start_draining();
    std::lock_guard lock(mutex_);
    draining_ = true;
    changed_.notify_all();
  }
  void wait_for_drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return draining_; });
  }

  // New connections are still accepted: they learn that the server is draining.
  void finish_in_flight() {
    const Clock::time_point end = Clock::now() + std::chrono::seconds(options_.shutdown_timeout_s);
    const auto busy = [&] { return app_.in_flight() > 0 || server_->busy() > 0; };
    while (busy() && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (app_.in_flight() > 0) {
      log_warning("{} answers are not finished after {} s: cancelled", app_.in_flight(),
                  options_.shutdown_timeout_s);
      app_.cancel_all();
      const Clock::time_point last = Clock::now() + std::chrono::milliseconds(500);
      while (busy() && Clock::now() < last) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    log_info("drained");
  }

  DoorOptions options_;
  Console console_;
  std::unique_ptr<HttpServer> server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool draining_ = false;
  EngineLink link_;
  DoorApp app_;
};

}  // namespace

int run_door_process() {
  Result<ServeOptions> options = begin_child("door");
  if (!options) {
    log_error("{}", options.reason());
    return 2;
  }
  fcntl(kListenFd, F_SETFD, FD_CLOEXEC);
  set_resource_limits();
  // Threads live until the process ends, so the object does too.
  static Door door(options->door);
  const int code = door.run();
  _exit(code);
}

}  // namespace assay::serve
