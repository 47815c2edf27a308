// What goes out in answer to a request: a status and a body.
#pragma once

#include <string>
#include <string_view>

#include "core/base/failure.h"
#include "core/base/result.h"
#include "formats/json.h"

namespace tarcil::gateway {

struct Reply {
  int status = 200;
  std::string body{};
};

// As one line; what is no UTF-8 in texts of others is replaced.
std::string textOf(const Json& json);

// {"error": ...} of docs/http.md. `problems` are of a job file: lines "job:LINE:COLUMN: FIELD: problem".
Reply errorReply(int status, std::string_view code, const std::string& message);
Reply errorReply(const Error& error);
// Of a question, `isChange`: of something that was to be done.
Reply errorReply(const Failure& failure, bool isChange);

// What a job file is called in messages.
inline constexpr const char* kJobFile = "job";

// As HTTP has it: "Not Found".
const char* reasonOf(int status);

}  // namespace tarcil::gateway
