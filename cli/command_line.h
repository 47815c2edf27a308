// The command line of both programs: `tarcil`, which is small and starts quickly, and `tarcild`, which it
// executes for commands that take more (cli/tarcild/commands.h). To the user they are one: `tarcil`.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace tarcil {

using Words = std::vector<std::string>;
using AddVerb = std::function<void(CLI::App&)>;
using VerbsOfTarcild = std::map<std::string_view, AddVerb>;
// `userCommand` is what follows "--" after `tarcil profile run`: the user's, whatever it looks like.
using MakeVerbs = std::function<VerbsOfTarcild(const Words& userCommand)>;

// Finds the verb, lets it read its arguments, runs it, and turns whatever went wrong into one message and an
// exit code. Without `verbsOfTarcild` the program tarcild takes the process over where its verbs are asked
// for: number, arguments and streams stay, so nobody who watches the process sees the difference.
int runCommandLine(int argc, char** argv, const MakeVerbs& verbsOfTarcild = nullptr);

// The application with all verbs, none of them built.
std::unique_ptr<CLI::App> wholeApplication(const MakeVerbs& verbsOfTarcild);

// What `tarcil --help` says of a verb of tarcild.
const char* summaryOf(std::string_view verb);

}  // namespace tarcil
