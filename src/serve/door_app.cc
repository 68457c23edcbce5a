#include "serve/door_app.h"

#include <algorithm>
#include <boost/json.hpp>
#include <ctime>

#include "base/log.h"
#include "serve/http_format.h"

namespace assay::serve {
namespace {

namespace json = boost::json;

constexpr int kWorkers = 2;
constexpr size_t kMaxWaitingBodies = 256;  // parsed bodies wait for a worker; each has at most kMaxBodyBytes
constexpr int kRetryLoading = 2;           // seconds that Retry-After tells
constexpr int kRetryBusy = 1;

HttpResponse json_response(const json::value& value, int status = 200) {
  HttpResponse response;
  response.status = status;
  response.body = json::serialize(value);
  return response;
}

ApiError engine_died() {
  return unavailable(
      "The engine died while it made this answer; it is being restarted. Send the request again.",
      "engine_died", kRetryLoading);
}

}  // namespace

const std::vector<DoorApp::Route>& DoorApp::routes() {
  static const std::vector<Route> list = {
      {"/v1/chat/completions", "POST", true, true, &DoorApp::chat},
      {"/v1/completions", "POST", true, true, &DoorApp::completions},
      {"/v1/models", "GET", true, false, &DoorApp::models},
      {"/tokenize", "POST", true, false, &DoorApp::tokenize},
      {"/detokenize", "POST", true, false, &DoorApp::detokenize},
      {"/v1/tokenize", "POST", true, false, &DoorApp::tokenize},
      {"/v1/detokenize", "POST", true, false, &DoorApp::detokenize},
      {"/metrics", "GET", true, false, &DoorApp::metrics},
      {"/version", "GET", true, false, &DoorApp::version},
      {"/health", "GET", false, false, &DoorApp::readyz},
      {"/readyz", "GET", false, false, &DoorApp::readyz},
      {"/livez", "GET", false, false, &DoorApp::livez},
  };
  return list;
}

DoorApp::DoorApp(const DoorOptions& options, std::function<void(const WireMessage&)> send,
                 std::function<EngineState()> engine_state)
    : options_(options),
      keys_(options.api_keys),
      send_(std::move(send)),
      engine_state_(std::move(engine_state)),
      // Ids of an earlier door must never come back; the top bit stays free of what a person reads as
      // negative.
      next_id_(random_u64() >> 2),
      started_(std::time(nullptr)),
      workers_(kWorkers, kMaxWaitingBodies) {
  options_.api_keys.clear();  // only digests stay
}

void DoorApp::set_model(std::shared_ptr<const ModelText> model) {
  std::lock_guard lock(mutex_);
  model_ = std::move(model);
}
std::shared_ptr<const ModelText> DoorApp::model() const {
  std::lock_guard lock(mutex_);
  return model_;
}

const DoorApp::Route* DoorApp::find_route(const HttpHead& head, std::string* allowed) {
  for (const Route& route : routes()) {
    if (route.path != head.path) continue;
    if (route.method == head.method) return &route;
    *allowed = route.method;
  }
  return nullptr;
}

std::optional<HttpResponse> DoorApp::admit(const HttpHead& head) {
  std::string allowed;
  const Route* route = find_route(head, &allowed);
  std::optional<ApiError> error;
  const bool is_model = head.path.rfind("/v1/models/", 0) == 0 && head.method == "GET";
  if ((route == nullptr ? is_model || !allowed.empty() : route->needs_key) && keys_.required() &&
      !keys_.accepts(head.authorization)) {
    error = ApiError{401,
                     head.authorization.empty() ? "No API key was sent; send 'Authorization: Bearer KEY'."
                                                : "The API key is not one of this server's.",
                     "invalid_request_error",
                     "",
                     "invalid_api_key",
                     0};
  } else if (route == nullptr && !is_model) {
    error = allowed.empty()
                ? ApiError{404,
                           fmt::format("There is no route {} {}.", head.method, head.path),
                           "invalid_request_error",
                           "",
                           "not_found",
                           0}
                : ApiError{405,
                           fmt::format("{} takes {} requests, found {}.", head.path, allowed, head.method),
                           "invalid_request_error",
                           "",
                           "method_not_allowed",
                           0};
  } else if (route != nullptr && route->needs_model) {
    error = not_serving();
  }
  if (!error) return std::nullopt;
  metrics_.count_http(route != nullptr || !allowed.empty() ? head.path : "other", error->status);
  HttpResponse response = error_response(*error);
  if (error->status == 405) response.headers.emplace_back("Allow", allowed);
  return response;
}

HttpResponse DoorApp::malformed(int status, std::string_view why) {
  metrics_.count_http("malformed", status);
  return error_response(
      {status, fmt::format("Bad HTTP request: {}.", why), "invalid_request_error", "", "", 0});
}

void DoorApp::serve(HttpRequest request, std::shared_ptr<HttpReply> reply) {
  std::string allowed;
  const Route* route = find_route(request.head, &allowed);
  const Handler handler = route != nullptr ? route->handler : &DoorApp::models;
  if (request.head.method == "GET") return (this->*handler)(request, reply);
  const bool taken = workers_.post([this, handler, request = std::move(request), reply] {
    try {
      (this->*handler)(request, reply);
    } catch (const std::exception& e) {
      log_error("request {}: {}", request.head.request_id, e.what());
      refuse(request.head.path, reply,
             {500, "Internal error; the server's log has it under this x-request-id.", "server_error", "",
              "internal_error", 0});
    }
  });
  if (!taken)
    refuse(route != nullptr ? std::string(route->path) : "other", reply,
           {429, "Too many requests wait to be read; try again.", "rate_limit_exceeded", "",
            "rate_limit_exceeded", kRetryBusy});
}

void DoorApp::reply_with(const std::string& path, const std::shared_ptr<HttpReply>& reply,
                         HttpResponse response) {
  metrics_.count_http(path, response.status);
  reply->send(std::move(response));
}

void DoorApp::refuse(const std::string& path, const std::shared_ptr<HttpReply>& reply,
                     const ApiError& error) {
  reply_with(path, reply, error_response(error));
}

std::optional<ApiError> DoorApp::not_serving() const {
  if (draining_)
    return unavailable("The server is shutting down and takes no new requests.", "draining", kRetryLoading);
  const EngineState engine = engine_state_();
  if (engine.loaded && model() != nullptr) return std::nullopt;
  if (!engine.fatal.empty())
    return unavailable("The model could not be loaded: " + engine.fatal, "load_failed", kRetryLoading);
  return unavailable(
      fmt::format("{} (phase {}, {:.0f} %). Ask /readyz until it answers 200.",
                  engine.losses > 0 ? "The engine died and is being restarted" : "The model is still loading",
                  engine.phase, engine.fraction * 100),
      engine.losses > 0 ? "engine_restarting" : "loading", kRetryLoading);
}

std::optional<ApiError> DoorApp::check_model_name(const std::string& name) const {
  const auto& served = options_.served_names;
  if (name.empty() || options_.accept_any_model ||
      std::find(served.begin(), served.end(), name) != served.end())
    return std::nullopt;
  return ApiError{
      404,
      fmt::format(
          "The model '{}' is not served here; this server has '{}' (or start it with --accept-any-model).",
          name, fmt::join(served, "', '")),
      "invalid_request_error",
      "model",
      "model_not_found",
      0};
}

void DoorApp::livez(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply) {
  reply_with(request.head.path, reply, json_response({{"status", "alive"}}));
}

void DoorApp::readyz(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply) {
  const EngineState engine = engine_state_();
  if (!not_serving()) return reply_with(request.head.path, reply, json_response({{"status", "ok"}}));
  json::object body{{"status", draining_               ? "draining"
                               : !engine.fatal.empty() ? "failed"
                               : engine.losses > 0     ? "restarting"
                                                       : "loading"},
                    {"phase", engine.phase},
                    {"progress", engine.fraction}};
  if (!engine.fatal.empty()) body["reason"] = engine.fatal;
  HttpResponse response = json_response(body, 503);
  response.headers.emplace_back("Retry-After", std::to_string(kRetryLoading));
  reply_with(request.head.path, reply, std::move(response));
}

void DoorApp::version(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply) {
  reply_with(request.head.path, reply, json_response({{"version", ASSAY_VERSION}}));
}

void DoorApp::models(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply) {
  const std::shared_ptr<const ModelText> text = model();
  const EngineState engine = engine_state_();
  const int32_t context = engine.loaded ? engine.card.context_length : text ? text->context_length : 0;
  const auto entry = [&](const std::string& name) {
    return json::object{{"id", name},
                        {"object", "model"},
                        {"created", started_},
                        {"owned_by", "assay"},
                        {"max_model_len", context}};
  };
  const std::string prefix = "/v1/models/";
  if (request.head.path.rfind(prefix, 0) == 0) {
    const std::string name = request.head.path.substr(prefix.size());
    if (auto error = check_model_name(name)) return refuse("/v1/models/{id}", reply, *error);
    return reply_with("/v1/models/{id}", reply, json_response(entry(name)));
  }
  json::array list;
  for (const std::string& name : options_.served_names) list.push_back(entry(name));
  reply_with(request.head.path, reply, json_response({{"object", "list"}, {"data", list}}));
}

void DoorApp::metrics(const HttpRequest&, const std::shared_ptr<HttpReply>& reply) {
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  metrics_.count_http("/metrics", 200);
  response.body = metrics_.prometheus(engine_state_(),
                                      {connections_(), in_flight_.size(), options_.served_names.front()});
  reply->send(std::move(response));
}

void DoorApp::tokenize(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply) {
  const std::string& path = request.head.path;
  const std::shared_ptr<const ModelText> text = model();
  if (!text)
    return refuse(path, reply, unavailable("The tokenizer is still loading.", "loading", kRetryLoading));
  Checked<TokenizeRequest> parsed = parse_tokenize_request(request.body, text->rules);
  if (!parsed) return refuse(path, reply, parsed.error());
  if (auto error = check_model_name(parsed->model)) return refuse(path, reply, *error);
  Checked<std::vector<engine::TokenId>> ids = serve::tokenize(*text, *parsed);
  if (!ids) return refuse(path, reply, ids.error());
  reply_with(path, reply,
             json_response({{"tokens", json::value_from(*ids)},
                            {"count", (*ids).size()},
                            {"max_model_len", text->context_length}}));
}

void DoorApp::detokenize(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply) {
  const std::string& path = request.head.path;
  const std::shared_ptr<const ModelText> text = model();
  if (!text)
    return refuse(path, reply, unavailable("The tokenizer is still loading.", "loading", kRetryLoading));
  Checked<DetokenizeRequest> parsed = parse_detokenize_request(request.body, text->rules);
  if (!parsed) return refuse(path, reply, parsed.error());
  if (auto error = check_model_name(parsed->model)) return refuse(path, reply, *error);
  const std::string decoded = text->tokenizer.decode(parsed->ids, false);
  reply_with(path, reply, json_response({{"prompt", decoded}, {"text", decoded}}));
}

void DoorApp::chat(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply) {
  const auto received = Exchange::Clock::now();
  const std::shared_ptr<const ModelText> text = model();
  Checked<ChatRequest> parsed = parse_chat_request(request.body, text->rules);
  if (!parsed) return refuse(request.head.path, reply, parsed.error());
  if (auto error = check_model_name(parsed->common.model)) return refuse(request.head.path, reply, *error);
  generate(request.head.path, Dialect::chat, prepare_chat(*text, std::move(*parsed)), reply, received);
}

void DoorApp::completions(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply) {
  const auto received = Exchange::Clock::now();
  const std::shared_ptr<const ModelText> text = model();
  Checked<CompletionRequest> parsed = parse_completion_request(request.body, text->rules);
  if (!parsed) return refuse(request.head.path, reply, parsed.error());
  if (auto error = check_model_name(parsed->common.model)) return refuse(request.head.path, reply, *error);
  generate(request.head.path, Dialect::completion, prepare_completion(*text, std::move(*parsed)), reply,
           received);
}

void DoorApp::generate(const std::string& path, Dialect dialect, Checked<Prepared> prepared,
                       const std::shared_ptr<HttpReply>& reply, Exchange::Clock::time_point received) {
  if (!prepared) return refuse(path, reply, prepared.error());
  const uint64_t losses = engine_state_().losses;
  if (auto error = not_serving()) return refuse(path, reply, *error);
  metrics_.count_unknown_fields(prepared->common.unknown_fields);
  const size_t most = static_cast<size_t>(options_.max_running_requests + options_.max_queued_requests);
  const size_t count = prepared->prompts.size() * static_cast<size_t>(prepared->common.n);
  if (!in_flight_.reserve(count, most))
    return refuse(
        path, reply,
        {429,
         fmt::format("{} answers are being made or wait already, {} more would exceed the limit of {} "
                     "(--max-queued-requests). Try again later.",
                     in_flight_.size(), count, most),
         "rate_limit_exceeded", "", "rate_limit_exceeded", kRetryBusy});
  AnswerHead head{
      dialect, (dialect == Dialect::chat ? "chatcmpl-" : "cmpl-") + random_hex(12), std::time(nullptr),
      prepared->common.model.empty() ? options_.served_names.front() : prepared->common.model, false};
  metrics_.count_http(path, 200);
  const auto exchange =
      std::make_shared<Exchange>(model(), std::move(*prepared), std::move(head),
                                 ExchangePorts{send_, &in_flight_, &metrics_, &next_id_}, reply, received);
  exchange->start();
  // An engine that died since the check above has not heard of it, or has taken it along unnoticed.
  if (engine_state_().losses != losses) exchange->fail(engine_died());
}

void DoorApp::take_events(std::span<const engine::TokenEvent> events) {
  for (const engine::TokenEvent& event : events) {
    const InFlight::Entry entry = in_flight_.find(event.request);
    if (entry.exchange) entry.exchange->take(entry.choice, event);
  }
}

void DoorApp::engine_lost() {
  for (const auto& exchange : in_flight_.all()) exchange->fail(engine_died());
}

void DoorApp::cancel_all() {
  const ApiError error = unavailable("The server is shutting down; its time for finishing answers is over.",
                                     "draining", kRetryLoading);
  for (const auto& exchange : in_flight_.all()) exchange->fail(error);
}

}  // namespace assay::serve
