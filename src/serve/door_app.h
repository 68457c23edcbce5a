#pragma once
// DoorApp: what each route means. Long work (JSON, template, tokenising) runs on its own few threads, so that
// /livez answers while somebody's 4 MiB prompt is read.
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "serve/api_error.h"
#include "serve/auth.h"
#include "serve/engine_link.h"
#include "serve/exchange.h"
#include "serve/http_server.h"
#include "serve/metrics.h"
#include "serve/model_text.h"
#include "serve/options.h"
#include "serve/worker_pool.h"

namespace assay::serve {

class DoorApp final : public HttpApp {
 public:
  DoorApp(const DoorOptions& options, std::function<void(const WireMessage&)> send,
          std::function<EngineState()> engine_state);

  // HttpApp
  std::optional<HttpResponse> admit(const HttpHead& head) override;
  void serve(HttpRequest request, std::shared_ptr<HttpReply> reply) override;
  HttpResponse malformed(int status, std::string_view why) override;

  void set_model(std::shared_ptr<const ModelText> model);
  void set_connection_count(std::function<int()> count) { connections_ = std::move(count); }
  // From the link's thread.
  void take_events(std::span<const engine::TokenEvent> events);
  void engine_lost();
  void start_draining() { draining_ = true; }
  // Ends what still runs, when the time for draining is over.
  void cancel_all();
  size_t in_flight() const { return in_flight_.size(); }

 private:
  using Handler = void (DoorApp::*)(const HttpRequest&, const std::shared_ptr<HttpReply>&);
  struct Route {
    std::string_view path, method;
    bool needs_key;    // and is counted under its own name
    bool needs_model;  // 503 while loading or draining
    Handler handler;
  };
  static const std::vector<Route>& routes();
  static const Route* find_route(const HttpHead& head, std::string* allowed);

  std::optional<ApiError> not_serving() const;
  std::optional<ApiError> check_model_name(const std::string& name) const;
  std::shared_ptr<const ModelText> model() const;
  void reply_with(const std::string& path, const std::shared_ptr<HttpReply>& reply, HttpResponse response);
  void refuse(const std::string& path, const std::shared_ptr<HttpReply>& reply, const ApiError& error);

  void livez(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply);
  void readyz(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply);
  void version(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply);
  void models(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply);
  void metrics(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply);
  void tokenize(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply);
  void detokenize(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply);
  void chat(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply);
  void completions(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply);
  void generate(const std::string& path, Dialect dialect, Checked<Prepared> prepared,
                const std::shared_ptr<HttpReply>& reply, Exchange::Clock::time_point received);

  DoorOptions options_;
  ApiKeys keys_;
  std::function<void(const WireMessage&)> send_;
  std::function<EngineState()> engine_state_;
  std::function<int()> connections_ = [] { return 0; };
  Metrics metrics_;
  InFlight in_flight_;
  std::atomic<engine::RequestId> next_id_;
  std::atomic<bool> draining_{false};
  int64_t started_;
  mutable std::mutex mutex_;
  std::shared_ptr<const ModelText> model_;
  WorkerPool workers_;  // last: its threads end first
};

}  // namespace assay::serve
