#pragma once
// The bytes of HTTP answers, and request ids.
#include <string>
#include <string_view>

#include "serve/http_server.h"

namespace assay::serve {

std::string format_response(const HttpResponse& response, std::string_view request_id, bool keep_alive);
std::string format_stream_head(const HttpResponse& head, std::string_view request_id, bool keep_alive,
                               bool chunked);
std::string format_chunk(std::string_view bytes);

// The client's id if it is 1 to 128 printable ASCII characters, else 128 random bits in hex.
std::string choose_request_id(std::string_view from_client);
std::string random_hex(int bytes);
uint64_t random_u64();

}  // namespace assay::serve
