// The file `reason` of a task's directory: "cancelled" or "timed-out", and a newline.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/launch.h"

namespace tarcil {

// Requires: kCancelled or kTimedOut.
inline std::string reasonRecord(EndCause reason) {
  return reason == EndCause::kTimedOut ? "timed-out\n" : "cancelled\n";
}

// nullopt for anything but a whole record.
inline std::optional<EndCause> parseReasonRecord(std::string_view text) {
  for (const EndCause reason : {EndCause::kCancelled, EndCause::kTimedOut}) {
    if (text == reasonRecord(reason)) return reason;
  }
  return std::nullopt;
}

}  // namespace tarcil
