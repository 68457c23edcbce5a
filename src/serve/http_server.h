#pragma once
// HttpServer: HTTP/1.1 with limits, on a few threads. What a path means is the business of HttpApp; Beast and
// TLS types stay in the .cc files.
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay::serve {

// Limits of what a client may send or make us keep.
inline constexpr size_t kMaxHeaderBytes = 16u << 10;
inline constexpr size_t kMaxTargetBytes = 8u << 10;
inline constexpr size_t kMaxHeaderFields = 64;
inline constexpr size_t kMaxBodyBytes = 4u << 20;
inline constexpr size_t kMaxBodiesBytes = 256u << 20;  // of all bodies that are read or wait, together
inline constexpr size_t kMaxChunks = 4096;
inline constexpr size_t kMaxStreamBacklog = 1u
                                            << 20;  // unsent bytes of one answer: a slower reader is cut off

struct HttpHead {
  std::string method;
  std::string path;           // without the query
  std::string authorization;  // header values as sent; empty if absent
  std::string request_id;     // the client's x-request-id if it is printable, else a fresh one
};

struct HttpRequest {
  HttpHead head;
  std::string body;
  std::shared_ptr<const void>
      budget;  // the body's share of kMaxBodiesBytes, given back when the request goes
};

struct HttpResponse {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
};

enum class Gone { closed, stalled, overflowed };

// One exchange's way back to the client. Thread-safe; calls after the end or after the client went are
// ignored. A reply holds its connection: it must be gone before the HttpServer is.
class HttpReply {
 public:
  virtual ~HttpReply() = default;
  virtual void send(HttpResponse response) = 0;
  // A body of unknown length. `ping` is sent when nothing else was for 15 s.
  virtual void begin_stream(HttpResponse head, std::string ping) = 0;
  virtual void write(std::string bytes) = 0;
  virtual void end_stream() = 0;
  // `callback` runs once, on an I/O thread, if the client goes before the exchange ended (at once if it has
  // gone).
  virtual void on_gone(std::function<void(Gone)> callback) = 0;
};

class HttpApp {
 public:
  virtual ~HttpApp() = default;
  // Before the body is read: an answer here ends the exchange.
  virtual std::optional<HttpResponse> admit(const HttpHead& head) = 0;
  // Must not block: long work goes to another thread.
  virtual void serve(HttpRequest request, std::shared_ptr<HttpReply> reply) = 0;
  // The answer to bytes that are not a request we take (400, 408, 413, 414, 429, 431).
  virtual HttpResponse malformed(int status, std::string_view why) = 0;
};

struct HttpOptions {
  int listen_fd = -1;
  int threads = 2;
  int max_connections = 8192;
  std::string ssl_certfile, ssl_keyfile;  // both or none
};

class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options, HttpApp* app);
  virtual ~HttpServer() = default;
  virtual void stop_accepting() = 0;
  // Ends the threads; open connections are closed.
  virtual void stop() = 0;
  virtual int connections() const = 0;
  // Connections with a request or unsent bytes of an answer.
  virtual int busy() const = 0;
};

const char* http_reason(int status);

}  // namespace assay::serve
