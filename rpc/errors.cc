#include "rpc/errors.h"

#include <array>
#include <string>
#include <string_view>

namespace tarcil {
namespace {

constexpr std::string_view kMark = "[tarcil:";
constexpr std::array kCodes = {ErrorCode::kNotFound,    ErrorCode::kInvalid,   ErrorCode::kConflict,
                               ErrorCode::kUnavailable, ErrorCode::kExhausted, ErrorCode::kDenied,
                               ErrorCode::kInternal};

}  // namespace

kj::Exception toException(const Error& error) {
  const std::string text = std::string(kMark) + name(error.code) + "] " + error.message;
  const auto type =
      error.code == ErrorCode::kExhausted ? kj::Exception::Type::OVERLOADED : kj::Exception::Type::FAILED;
  return kj::Exception(type, __FILE__, __LINE__, kj::heapString(text.data(), text.size()));
}

Error fromException(const kj::Exception& exception) {
  const auto description = exception.getDescription();
  const std::string_view text(description.begin(), description.size());
  // Each hop puts words of its own before the text.
  if (const size_t mark = text.find(kMark); mark != std::string_view::npos) {
    const std::string_view rest = text.substr(mark + kMark.size());
    const size_t close = rest.find("] ");
    if (close != std::string_view::npos) {
      for (ErrorCode code : kCodes) {
        if (rest.substr(0, close) == name(code)) return {code, std::string(rest.substr(close + 2))};
      }
    }
  }
  const auto code = exception.getType() == kj::Exception::Type::DISCONNECTED ? ErrorCode::kUnavailable
                                                                             : ErrorCode::kInternal;
  return {code, std::string(text)};
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
