#include "serve/api_error.h"

#include <boost/json.hpp>

namespace assay::serve {

ApiError bad_request(std::string param, std::string message, std::string code) {
  ApiError error;
  error.param = std::move(param);
  error.message = std::move(message);
  error.code = std::move(code);
  return error;
}

ApiError unavailable(std::string message, std::string code, int retry_after_s) {
  return {503, std::move(message), "service_unavailable", "", std::move(code), retry_after_s};
}

std::string error_json(const ApiError& error) {
  const auto or_null = [](const std::string& s) {
    return s.empty() ? boost::json::value() : boost::json::value(s);
  };
  return boost::json::serialize(boost::json::object{{"error",
                                                     {{"message", error.message},
                                                      {"type", error.type},
                                                      {"param", or_null(error.param)},
                                                      {"code", or_null(error.code)}}}});
}

HttpResponse error_response(const ApiError& error) {
  HttpResponse response;
  response.status = error.status;
  response.body = error_json(error);
  if (error.retry_after_s > 0)
    response.headers.emplace_back("Retry-After", std::to_string(error.retry_after_s));
  if (error.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace assay::serve
