#include "cli/output/help.h"

#include <algorithm>

namespace tarcil {
namespace {

constexpr size_t kUsageColumn = 7;
constexpr size_t kOptionColumn = 24;

constexpr const char* kUsualExits =
    "  0  done\n"
    "  1  failed or refused\n"
    "  2  bad arguments or files; nothing was sent\n"
    "  3  no cluster in reach, or not allowed\n";

// "  --name VALUE   description", the description in a column of its own.
std::string entry(const std::string& label, const std::string& description) {
  std::string text = "  " + label;
  if (text.size() + 2 > kOptionColumn) {
    text += "\n" + std::string(kOptionColumn, ' ');
  } else {
    text.append(kOptionColumn - text.size(), ' ');
  }
  return text + wrapped(description, kOptionColumn) + "\n";
}

std::string optionsOf(const CLI::App& app) {
  std::string arguments, options;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // is there to be refused
    const bool isArgument = option->get_positional() && !option->nonpositional();
    (isArgument ? arguments : options) += entry(labelOf(*option), option->get_description());
  }
  return (arguments.empty() ? "" : "\nArguments:\n" + arguments) + "\nOptions:\n" + options;
}

// Commands under the heading of their group, in the order in which they were added.
std::string commandsOf(const CLI::App& app) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  std::vector<std::string> groups;
  for (const CLI::App* command : commands) {
    if (std::find(groups.begin(), groups.end(), command->get_group()) == groups.end()) {
      groups.push_back(command->get_group());
    }
  }
  std::string text;
  for (const std::string& group : groups) {
    text += "\n" + group + ":\n";
    for (const CLI::App* command : commands) {
      if (command->get_group() == group) text += entry(command->get_name(), command->get_description());
    }
  }
  return text;
}

}  // namespace

std::string labelOf(const CLI::Option& option) {
  if (option.get_positional() && !option.nonpositional()) return option.get_name(true);
  std::string label;
  for (const std::string& name : option.get_snames()) label += (label.empty() ? "-" : ", -") + name;
  // Of several long names the others are earlier ones that go on working.
  if (!option.get_lnames().empty()) label += (label.empty() ? "--" : ", --") + option.get_lnames().front();
  const std::string value = option.get_items_expected_max() == 0 ? "" : option.get_type_name();
  return value.empty() ? label : label + " " + value;
}

std::string wrapped(std::string_view text, size_t indent) {
  const std::string margin(indent, ' ');
  std::string out;
  size_t column = indent;
  while (!text.empty()) {
    if (text.front() == '\n') {  // a break that was meant
      out += "\n";
      text.remove_prefix(1);
      if (!text.empty() && text.front() != '\n') out += margin;
      column = indent;
      continue;
    }
    if (column == indent && text.front() == ' ') {  // a line that is to stay as it is
      const size_t end = std::min(text.find('\n'), text.size());
      out += text.substr(0, end);
      text.remove_prefix(end);
      continue;
    }
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    if (column > indent && column + 1 + word.size() > kHelpColumns) {
      out += "\n" + margin;
      column = indent;
    }
    if (column > indent) {
      out += " ";
      ++column;
    }
    out += word;
    column += word.size();
    text.remove_prefix(end < text.size() && text[end] == ' ' ? end + 1 : end);
  }
  return out;
}

std::string CommandHelp::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  std::string text = "Usage: " + wrapped(std::string("tarcil ") + help_.usage, kUsageColumn) + "\n\n" +
                     wrapped(help_.details, 0) + "\n";
  text += commandsOf(*app) + optionsOf(*app);
  if (*help_.examples != '\0') text.append("\nExamples:\n").append(help_.examples);
  return text + "\nExit codes:\n" + exitsOf(help_);
}

const Help& helpOf(const CLI::App& command) {
  return dynamic_cast<const CommandHelp&>(*command.get_formatter()).help();
}

const char* exitsOf(const Help& help) {
  return *help.exits == '\0' ? kUsualExits : help.exits;
}

}  // namespace tarcil
