// Runs a program of the server to its end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace tarcil::image {

// What it wrote to its standard output. `words`: the program's path and its arguments. `watch` is asked five
// times a second; what it fails with ends the program, and is the outcome. kInvalid: the program failed; the
// message has the last of what it wrote to standard error, at most kMaxErrorText bytes, on one line. More
// than `maxOutput` bytes of output fail too.
Result<std::string> runTool(const std::vector<std::string>& words, size_t maxOutput,
                            const std::function<Status()>& watch);

inline constexpr size_t kMaxErrorText = 1'000;

}  // namespace tarcil::image
