#pragma once
// Result<T>: a value, or an Error that says what was found, what was expected and what would work.
// Input errors (files, flags, requests) travel as Result; broken invariants end the process (base/check.h).
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace assay {

struct Error {
  std::string message;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  bool ok() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }
  const std::string& reason() const { return std::get<1>(state_).message; }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  explicit operator bool() const { return !error_; }
  bool ok() const { return !error_; }
  const Error& error() const { return *error_; }
  const std::string& reason() const { return error_->message; }

 private:
  std::optional<Error> error_;
};

}  // namespace assay
