#include "core/base/result.h"

namespace tarcil {

const char* name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return "NotFound";
    case ErrorCode::kInvalid:
      return "Invalid";
    case ErrorCode::kConflict:
      return "Conflict";
    case ErrorCode::kUnavailable:
      return "Unavailable";
    case ErrorCode::kExhausted:
      return "Exhausted";
    case ErrorCode::kDenied:
      return "Denied";
    case ErrorCode::kInternal:
      return "Internal";
  }
  return "Internal";
}

}  // namespace tarcil
