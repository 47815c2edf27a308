#include "gateway/server/reply.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace tarcil::gateway {
namespace {

// "job:3:8: tasks: is 0; write ..." in its parts; none where a line is not like that.
std::optional<Json> problemOf(std::string_view line) {
  const std::string prefix = std::string(kJobFile) + ":";
  if (!line.starts_with(prefix)) return std::nullopt;
  line.remove_prefix(prefix.size());
  const auto number = [&line]() -> std::optional<int> {
    int value = 0;
    const auto read = std::from_chars(line.data(), line.data() + line.size(), value);
    if (read.ec != std::errc() || read.ptr == line.data() + line.size() || *read.ptr != ':')
      return std::nullopt;
    line.remove_prefix(static_cast<size_t>(read.ptr - line.data()) + 1);
    return value;
  };
  const auto row = number();
  const auto column = row ? number() : std::nullopt;
  const size_t colon = line.find(": ");
  if (!column || !line.starts_with(' ') || colon == std::string_view::npos) return std::nullopt;
  return Json{{"line", *row},
              {"column", *column},
              {"field", line.substr(1, colon - 1)},
              {"message", line.substr(colon + 2)}};
}

Json problemsIn(std::string_view message) {
  Json problems = Json::array();
  while (!message.empty()) {
    const size_t end = std::min(message.find('\n'), message.size());
    if (auto problem = problemOf(message.substr(0, end))) problems.push_back(std::move(*problem));
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  return problems;
}

}  // namespace

std::string textOf(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Reply errorReply(int status, std::string_view code, const std::string& message) {
  Json error = {{"code", code}, {"message", message}};
  if (Json problems = problemsIn(message); !problems.empty()) error["problems"] = std::move(problems);
  return {status, textOf({{"error", std::move(error)}})};
}

Reply errorReply(const Error& error) {
  switch (error.code) {
    case ErrorCode::kNotFound:
      return errorReply(404, "not-found", error.message);
    case ErrorCode::kInvalid:
      return errorReply(400, "invalid", error.message);
    case ErrorCode::kConflict:
      return errorReply(409, "conflict", error.message);
    case ErrorCode::kUnavailable:
      return errorReply(503, "unavailable", error.message);
    case ErrorCode::kExhausted:
      return errorReply(429, "exhausted", error.message);
    case ErrorCode::kDenied:
      return errorReply(403, "denied", error.message);
    case ErrorCode::kInternal:
      break;
  }
  return errorReply(500, "internal", error.message);
}

Reply errorReply(const Failure& failure, bool isChange) {
  switch (failure.code()) {
    case kExitBadInput:
      return errorReply(400, "invalid", failure.message());
    case kExitNoCluster:
      return errorReply(503, "unavailable", failure.message());
    default:
      return isChange ? errorReply(409, "conflict", failure.message())
                      : errorReply(404, "not-found", failure.message());
  }
}

const char* reasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

}  // namespace tarcil::gateway
