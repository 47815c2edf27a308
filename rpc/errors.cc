#include "rpc/errors.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tarcil {
namespace {

constexpr std::string_view kMark = "[tarcil:";
constexpr std::array kCodes = {ErrorCode::kNotFound,    ErrorCode::kInvalid,   ErrorCode::kConflict,
                               ErrorCode::kUnavailable, ErrorCode::kExhausted, ErrorCode::kDenied,
                               ErrorCode::kInternal};

// The Error that the text carries; none where it carries none.
std::optional<Error> sentError(std::string_view text) {
  // Each hop puts words of its own before the text.
  const size_t mark = text.find(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(mark + kMark.size());
  const size_t close = rest.find("] ");
  if (close == std::string_view::npos) return std::nullopt;
  for (ErrorCode code : kCodes) {
    if (rest.substr(0, close) == name(code)) return Error{code, std::string(rest.substr(close + 2))};
  }
  return std::nullopt;
}

std::string_view textOf(const kj::Exception& exception) {
  const auto description = exception.getDescription();
  return {description.begin(), description.size()};
}

}  // namespace

kj::Exception toException(const Error& error) {
  const std::string text = std::string(kMark) + name(error.code) + "] " + error.message;
  const auto type =
      error.code == ErrorCode::kExhausted ? kj::Exception::Type::OVERLOADED : kj::Exception::Type::FAILED;
  return kj::Exception(type, __FILE__, __LINE__, kj::heapString(text.data(), text.size()));
}

Error fromException(const kj::Exception& exception) {
  if (auto sent = sentError(textOf(exception))) return std::move(*sent);
  const auto code = exception.getType() == kj::Exception::Type::DISCONNECTED ? ErrorCode::kUnavailable
                                                                             : ErrorCode::kInternal;
  return {code, std::string(textOf(exception))};
}

bool wasSent(const kj::Exception& exception) {
  return sentError(textOf(exception)).has_value();
}

Status caught(const std::function<Status()>& act) {
  Status said;
  KJ_IF_MAYBE (thrown, kj::runCatchingExceptions([&act, &said]() { said = act(); })) {
    return fromException(*thrown);
  }
  return said;
}

void requireOk(const Status& status) {
  if (!status.ok()) kj::throwFatalException(toException(status.error()));
}

}  // namespace tarcil
