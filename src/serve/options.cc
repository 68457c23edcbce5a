#include "serve/options.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <type_traits>

namespace assay::serve {
namespace {

namespace json = boost::json;

// One list of fields serves both directions, so that no field can be forgotten in one of them.
template <class Options, class Visit>
void each_door_field(Options& o, Visit&& visit) {
  visit("model_path", o.model_path);
  visit("tokenizer_path", o.tokenizer_path);
  visit("chat_template", o.chat_template);
  visit("served_names", o.served_names);
  visit("host", o.host);
  visit("port", o.port);
  visit("api_keys", o.api_keys);
  visit("ssl_certfile", o.ssl_certfile);
  visit("ssl_keyfile", o.ssl_keyfile);
  visit("accept_any_model", o.accept_any_model);
  visit("sampling_from_model", o.sampling_from_model);
  visit("context_length", o.context_length);
  visit("max_queued_requests", o.max_queued_requests);
  visit("max_running_requests", o.max_running_requests);
  visit("max_connections", o.max_connections);
  visit("shutdown_timeout_s", o.shutdown_timeout_s);
  visit("http_threads", o.http_threads);
  visit("log_level", o.log_level);
}

template <class Options, class Visit>
void each_engine_field(Options& o, Visit&& visit) {
  visit("model_path", o.model_path);
  visit("threads", o.threads);
  visit("context_length", o.context_length);
  visit("max_running_requests", o.max_running_requests);
  visit("max_total_tokens", o.max_total_tokens);
  visit("mem_fraction_static", o.mem_fraction_static);
  visit("page_size", o.page_size);
  visit("chunked_prefill_size", o.chunked_prefill_size);
  visit("precision", o.precision);
  visit("moe_runner_backend", o.moe_runner_backend);
  visit("quantization", o.quantization);
}

struct Put {
  json::object& object;
  template <class T>
  void operator()(const char* name, const T& value) const {
    object[name] = json::value_from(value);
  }
};

struct Get {
  const json::object& object;
  template <class T>
  void operator()(const char* name, T& value) const {
    value = json::value_to<T>(object.at(name));
  }
};

}  // namespace

std::string to_json(const ServeOptions& options) {
  json::object door, engine;
  each_door_field(options.door, Put{door});
  each_engine_field(options.engine, Put{engine});
  return json::serialize(json::object{{"door", door}, {"engine", engine}});
}

Result<ServeOptions> options_from_json(std::string_view text) {
  try {
    const json::value root = json::parse(json::string_view(text.data(), text.size()));
    ServeOptions options;
    each_door_field(options.door, Get{root.at("door").as_object()});
    each_engine_field(options.engine, Get{root.at("engine").as_object()});
    return options;
  } catch (const std::exception& e) {
    return Error{fmt::format("options of the parent process do not parse: {}", e.what())};
  }
}

}  // namespace assay::serve
