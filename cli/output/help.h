// The text of `--help`.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

#include "cli/command.h"

namespace tarcil {

inline constexpr size_t kHelpColumns = 78;

// Breaks paragraphs at spaces so that no line, with `indent` spaces before it, is longer than kHelpColumns.
// The first line is not indented: it continues what stands there. A line that begins with a space stays as
// it is.
std::string wrapped(std::string_view text, size_t indent);

// "-f, --follow", "--profile FILE"; the bare name of an argument.
std::string labelOf(const CLI::Option& option);

// Usage, details, arguments, options, examples, exit codes.
class CommandHelp final : public CLI::FormatterBase {
 public:
  explicit CommandHelp(const Help& help) : help_(help) {}
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

  const Help& help() const { return help_; }

 private:
  Help help_;
};

// What the command was added with (cli/command.h).
const Help& helpOf(const CLI::App& command);

// Its exit codes, a line each.
const char* exitsOf(const Help& help);

}  // namespace tarcil
