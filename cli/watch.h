// --watch: what a command shows, again and again.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <string_view>

#include "core/base/time.h"

namespace tarcil {

// Whether the command of this name ("tarcil job list") has --watch: those that list or show what changes.
bool isWatchable(std::string_view command);

// A check for the value of --watch, in seconds; and what it says. Requires: the check has passed.
CLI::Validator watchPeriod();
Duration periodOf(const std::string& seconds);

struct Watched {
  std::string title;  // the command
  Duration period{};  // from the end of one look to the beginning of the next
  bool isJson = false;
};

// Calls `body`, which prints to stdout as it does without --watch and may throw. On a terminal each time
// takes the place of the one before, until the user presses q; elsewhere it is printed below it, under the
// time; JSON is printed as one line each time. The first time has to go well: what it throws, or its exit
// code other than 0, is the result. Later what goes wrong is shown in place of what is looked at, as
// {"error": ...} in JSON. 0 when the user ends it.
int watch(const Watched& watched, const std::function<int()>& body);

}  // namespace tarcil
