// What every command is made of: its help, its common flags, its body.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/context.h"

namespace tarcil {

// The help of one command; shown wrapped to 78 columns.
struct Help {
  const char* usage = "";     // without "tarcil": "submit [OPTIONS] FILE"
  const char* summary = "";   // one line, in the list of verbs
  const char* details = "";   // paragraphs, empty lines between them
  const char* examples = "";  // one a line, shown as written
  const char* exits = "";     // lines, shown as written; empty: the usual ones
};

// Adds to a command its options and what it does, or the commands below it.
using BuildCommand = std::function<void(CLI::App& command)>;

// A command without a parent command of its own has `parent` = the application. It is built when it is asked
// for: options take CLI11 more time than all else that a short command does before it starts.
void addCommand(CLI::App& parent, const std::string& name, const Help& help, BuildCommand build);

// A command that only groups others.
void addGroup(CLI::App& parent, const std::string& name, const Help& help, BuildCommand build);

// Builds it if it has not been. Requires: addCommand or addGroup made it.
void buildCommand(CLI::App& command);

// What the command does once its arguments are read; returns the exit code. With --watch, which commands have
// that show what changes, it is done again and again (cli/watch.h). Requires: addCommand made it.
void onRun(CLI::App& command, std::function<int()> body);

// What became of something that was to be done: a message where it did not go well.
struct Outcome {
  int code = 0;  // of the process
  std::string message{};
};
// Does it; what it throws becomes the message and the code.
Outcome outcomeOf(const std::function<int()>& body);

// --json and --verbose.
struct OutputFlags {
  bool json = false;
  bool verbose = false;
};
void addOutputFlags(CLI::App& command, OutputFlags& flags);
CLI::Option* addJsonFlag(CLI::App& command, bool& json);
// JOB, one or several: which jobs are meant (cli/job_reference.h).
void addJobName(CLI::App& command, std::string& job);
CLI::Option* addJobNames(CLI::App& command, std::vector<std::string>& jobs);

// --data, --cluster, --token-file.
void addClusterFlags(CLI::App& command, ContextFlags& flags);

// A check for a whole number in a range, with a message that says so.
CLI::Validator wholeNumber(int64_t least, int64_t most);

// A check for a text that is not empty, such as one from a variable that is not set may be.
CLI::Validator notEmpty();

// A check for one of a few words, with a message that lists them.
CLI::Validator oneOf(std::vector<std::string_view> words);

// What a flag was given, if it was, in place of what was there.
template <typename To, typename From>
void setIfGiven(To& to, const std::optional<From>& given) {
  if (given) to = static_cast<To>(*given);
}

}  // namespace tarcil
