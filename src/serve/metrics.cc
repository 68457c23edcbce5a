#include "serve/metrics.h"

#include <fmt/format.h>
namespace assay::serve {
namespace {

// A metric's head, as Prometheus wants it before the samples.
void head(std::string* out, const char* name, const char* type, const char* help) {
  *out += fmt::format("# HELP assay_{} {}\n# TYPE assay_{} {}\n", name, help, name, type);
}

template <class T>
void single(std::string* out, const char* name, const char* type, const char* help, T value) {
  head(out, name, type, help);
  *out += fmt::format("assay_{} {}\n", name, value);
}

void by_label(std::string* out, const char* name, const char* help, const char* label,
              const std::map<std::string, uint64_t, std::less<>>& values) {
  head(out, name, "counter", help);
  for (const auto& [key, value] : values)
    *out += fmt::format("assay_{}{{{}=\"{}\"}} {}\n", name, label, key, value);
}

std::string escaped_label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void print_engine(std::string* out, const EngineState& e) {
  const engine::EngineStats& s = e.stats;
  const double pages = s.pages_total > 0 ? static_cast<double>(s.pages_used) / s.pages_total : 0.0;
  single(out, "engine_up", "gauge", "1 when the engine has loaded and its canary passed", e.loaded ? 1 : 0);
  single(out, "engine_losses_total", "counter", "times the engine died", e.losses);
  single(out, "engine_steps_total", "counter", "forward passes of this engine process", s.steps);
  single(out, "num_requests_running", "gauge", "requests in the running batch", s.running);
  single(out, "num_requests_waiting", "gauge", "requests waiting in the engine", s.waiting);
  single(out, "kv_cache_usage_perc", "gauge", "share of KV pages in use, 1 = all", pages);
  single(out, "kv_pages_used", "gauge", "KV pages in use", s.pages_used);
  single(out, "kv_pages_total", "gauge", "KV pages there are", s.pages_total);
  single(out, "state_slots_used", "gauge", "recurrent state slots in use", s.state_slots_used);
  single(out, "state_slots_total", "gauge", "recurrent state slots there are", s.state_slots_total);
  single(out, "prompt_tokens_total", "counter", "prompt tokens processed", s.prompt_tokens);
  single(out, "generation_tokens_total", "counter", "tokens generated", s.generated_tokens);
  single(out, "engine_requests_finished_total", "counter", "requests that left the engine",
         s.finished_requests);
  single(out, "engine_requests_cancelled_total", "counter", "of these, cancelled ones", s.cancelled_requests);
}

}  // namespace

void Metrics::Histogram::observe(double value) {
  size_t i = 0;
  while (i < kBounds.size() && value > kBounds[i]) ++i;
  ++counts[i];
  sum += value;
}

void Metrics::Histogram::print(std::string* out, const char* name, const char* help) const {
  head(out, name, "histogram", help);
  uint64_t total = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    *out += fmt::format("assay_{}_bucket{{le=\"{}\"}} {}\n", name,
                        i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf", total);
  }
  *out += fmt::format("assay_{}_sum {}\nassay_{}_count {}\n", name, sum, name, total);
}

void Metrics::count_http(std::string_view route, int status) {
  std::lock_guard lock(mutex_);
  ++http_[{std::string(route), status}];
}
void Metrics::count_finish(std::string_view reason) {
  std::lock_guard lock(mutex_);
  ++finished_[std::string(reason)];
}
void Metrics::count_abort(std::string_view reason) {
  std::lock_guard lock(mutex_);
  ++aborted_[std::string(reason)];
}
void Metrics::count_unknown_fields(size_t n) {
  std::lock_guard lock(mutex_);
  unknown_fields_ += n;
}
void Metrics::observe_first_token(double seconds) {
  std::lock_guard lock(mutex_);
  first_token_.observe(seconds);
}
void Metrics::observe_whole(double seconds) {
  std::lock_guard lock(mutex_);
  whole_.observe(seconds);
}

std::string Metrics::prometheus(const EngineState& engine, const Gauges& gauges) const {
  std::string out;
  head(&out, "build_info", "gauge", "always 1");
  out += fmt::format("assay_build_info{{model_name=\"{}\"}} 1\n", escaped_label(gauges.model));
  print_engine(&out, engine);
  single(&out, "http_connections", "gauge", "open connections", gauges.connections);
  single(&out, "requests_in_flight", "gauge", "engine requests the door has open", gauges.in_flight);
  std::lock_guard lock(mutex_);
  head(&out, "http_requests_total", "counter", "HTTP answers by route and status");
  for (const auto& [key, value] : http_)
    out += fmt::format("assay_http_requests_total{{route=\"{}\",status=\"{}\"}} {}\n", key.first, key.second,
                       value);
  by_label(&out, "request_success_total", "finished choices", "finished_reason", finished_);
  by_label(&out, "aborted_requests_total", "exchanges that did not finish", "reason", aborted_);
  single(&out, "unknown_fields_total", "counter", "request fields that were ignored", unknown_fields_);
  first_token_.print(&out, "time_to_first_token_seconds", "from the request's last byte to the first token");
  whole_.print(&out, "e2e_request_latency_seconds", "from the request's last byte to the last token");
  return out;
}

}  // namespace assay::serve
