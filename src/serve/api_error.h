#pragma once
// ApiError: a refusal in the shape of OpenAI's API. The message says what was found, what was expected and
// what would work.
#include <string>
#include <utility>

#include "base/result.h"
#include "serve/http_server.h"

namespace assay::serve {

struct ApiError {
  int status = 400;
  std::string message;
  std::string type = "invalid_request_error";
  std::string param;  // empty = null
  std::string code;   // empty = null
  int retry_after_s = 0;
};

ApiError bad_request(std::string param, std::string message, std::string code = "");
ApiError unavailable(std::string message, std::string code, int retry_after_s);

// {"error":{"message","type","param","code"}}
std::string error_json(const ApiError& error);
HttpResponse error_response(const ApiError& error);

// A value, or why the request is refused.
template <class T>
class [[nodiscard]] Checked {
 public:
  Checked(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Checked(ApiError error) : state_(std::in_place_index<1>, std::move(error)) {}
  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const ApiError& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, ApiError> state_;
};

}  // namespace assay::serve
