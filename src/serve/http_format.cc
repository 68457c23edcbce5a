#include "serve/http_format.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>

#include "base/check.h"

namespace assay::serve {
namespace {

std::string format_head(const HttpResponse& r, std::string_view request_id, bool keep_alive) {
  std::string out =
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nx-request-id: {}\r\nConnection: {}\r\n", r.status,
                  http_reason(r.status), r.content_type, request_id, keep_alive ? "keep-alive" : "close");
  for (const auto& [name, value] : r.headers) out += fmt::format("{}: {}\r\n", name, value);
  return out;
}

void fill_random(void* into, size_t bytes) {
  CHECK(getrandom(into, bytes, 0) == static_cast<ssize_t>(bytes));
}

}  // namespace

const char* http_reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Status";
  }
}

std::string format_response(const HttpResponse& response, std::string_view request_id, bool keep_alive) {
  return format_head(response, request_id, keep_alive) +
         fmt::format("Content-Length: {}\r\n\r\n", response.body.size()) + response.body;
}

std::string format_stream_head(const HttpResponse& head, std::string_view request_id, bool keep_alive,
                               bool chunked) {
  return format_head(head, request_id, keep_alive) +
         (chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
}

std::string format_chunk(std::string_view bytes) {
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

std::string choose_request_id(std::string_view from_client) {
  const bool printable =
      std::all_of(from_client.begin(), from_client.end(), [](char c) { return c > 32 && c < 127; });
  if (printable && !from_client.empty() && from_client.size() <= 128) return std::string(from_client);
  return random_hex(16);
}

std::string random_hex(int bytes) {
  std::string raw(static_cast<size_t>(bytes), '\0'), out;
  fill_random(raw.data(), raw.size());
  for (unsigned char c : raw) out += fmt::format("{:02x}", c);
  return out;
}

uint64_t random_u64() {
  uint64_t value = 0;
  fill_random(&value, sizeof(value));
  return value;
}

}  // namespace assay::serve
