// What users are told of a text that is refused.
#pragma once

#include <string_view>

#include "core/base/result.h"

namespace tarcil::fuzz {

// Throws Broken unless the error is kInvalid and its first line says where the problem is, and of what:
// "FILE:LINE:COLUMN: FIELD: PROBLEM". No line is empty, and no character steers a terminal.
void requireNamesPlace(const Error& error, std::string_view file);

// The same where there are no columns: the message begins so, and goes on.
void requireBegins(const Error& error, std::string_view beginning);

}  // namespace tarcil::fuzz
