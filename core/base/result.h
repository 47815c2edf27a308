// Errors as values. Expected outcomes have types of their own; these are failures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tarcil {

// What the caller should do decides the code.
enum class ErrorCode : uint8_t {
  kNotFound,     // the named thing does not exist: check the name
  kInvalid,      // the input is wrong: the message names place, field and remedy; nothing was changed
  kConflict,     // the state moved on: look again
  kUnavailable,  // a peer is out of reach: reconnect and repeat
  kExhausted,    // a bound is reached: back off
  kDenied,       // the caller's token does not allow it
  kInternal,     // a fault of tarcil or of the machine: report it
};

const char* name(ErrorCode code);

// What messages of kExhausted end with: long enough for jobs to end, short enough for nobody to give up.
inline constexpr const char* kTryAgain = "try again in 10 s";

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;

  bool operator==(const Error&) const = default;
};

inline Error invalid(std::string message) {
  return {ErrorCode::kInvalid, std::move(message)};
}
inline Error notFound(std::string message) {
  return {ErrorCode::kNotFound, std::move(message)};
}
inline Error denied(std::string message) {
  return {ErrorCode::kDenied, std::move(message)};
}

// A T or the Error that kept it from being made.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  // Requires: ok().
  T& value() { return std::get<T>(state_); }
  const T& value() const { return std::get<T>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Requires: !ok().
  const Error& error() const { return std::get<Error>(state_); }

 private:
  std::variant<T, Error> state_;
};

// Success, or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }

  // Requires: !ok().
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace tarcil
