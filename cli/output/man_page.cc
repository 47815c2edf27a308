#include "cli/output/man_page.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "cli/output/help.h"
#include "core/base/version.h"

namespace tarcil {
namespace {

// --- Words for roff ---

// As it is: no escapes, and hyphens that can be copied into a shell.
std::string literal(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '^' || c == '~') {
      out.append(c == '^' ? "\\(ha" : "\\(ti");
    } else {
      out += c;
    }
  }
  return out;
}

// A line of text that is no request, with what is quoted in bold.
std::string textLine(std::string_view text) {
  std::string out = text.starts_with('.') ? "\\&" : "";
  bool isBold = false;
  while (!text.empty()) {
    const size_t end = text.find('`');
    const bool isPair =
        isBold || (end != std::string_view::npos && text.find('`', end + 1) != std::string_view::npos);
    out += literal(text.substr(0, isPair || end == std::string_view::npos ? end : end + 1));
    if (end == std::string_view::npos) break;
    if (isPair) {
      isBold = !isBold;
      out += isBold ? "\\fB" : "\\fR";
    }
    text.remove_prefix(end + 1);
  }
  return out;
}

// Without the line's end, which the last one may lack.
std::string_view takeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

// Paragraphs, as wrapped() has them (cli/output/help.h).
std::string paragraphs(std::string_view text) {
  std::string out;
  bool isAfterText = false;
  while (!text.empty()) {
    const std::string_view taken = takeLine(text);
    if (taken.empty()) {
      out += ".PP\n";
      isAfterText = false;
    } else if (taken.starts_with(' ')) {
      out += ".nf\n" + literal(taken) + "\n.fi\n";
      isAfterText = false;
    } else {
      out += (isAfterText ? ".br\n" : "") + textLine(taken) + "\n";
      isAfterText = true;
    }
  }
  return out;
}

std::string section(const std::string& title, const std::string& body) {
  return body.empty() ? "" : ".SH " + title + "\n" + body;
}

std::string asWritten(std::string_view lines) {
  std::string out = ".nf\n";
  while (!lines.empty()) out += "\\&" + literal(takeLine(lines)) + "\n";
  return out + ".fi\n";
}

std::string roffEntry(const std::string& label, const std::string& description) {
  return ".TP\n\\fB" + literal(label) + "\\fR\n" + paragraphs(description);
}

// --- Sections ---

std::string optionsOf(const CLI::App& command, bool arePositional) {
  std::string out;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // as in --help
    if ((option->get_positional() && !option->nonpositional()) != arePositional) continue;
    out += roffEntry(labelOf(*option), option->get_description());
  }
  return out;
}

std::vector<const CLI::App*> commandsBelow(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

std::string commandsOf(const Described& described) {
  std::string out;
  for (const CLI::App* below : commandsBelow(*described.command))
    out += roffEntry(described.path + " " + below->get_name(), below->get_description());
  return out;
}

// Everything that the page says of the command.
std::string textsOf(const CLI::App& command) {
  std::string text = helpOf(command).details;
  for (const CLI::Option* option : command.get_options()) text += "\n" + option->get_description();
  return text;
}

bool quotes(const std::string& text, const std::string& path) {
  return text.find("`" + path + "`") != std::string::npos || text.find("`" + path + " ") != std::string::npos;
}

bool isRelated(const Described& one, const Described& other) {
  const bool isBeside =
      one.parent == other.parent && one.parent != nullptr && one.parent->get_parent() != nullptr;
  return one.parent == other.command || other.parent == one.command || isBeside;
}

std::string links(const Described& described, const std::vector<Described>& all) {
  const std::string texts = textsOf(*described.command);
  std::set<std::string> names;
  for (const Described& other : all) {
    if (other.command != described.command && (isRelated(described, other) || quotes(texts, other.path)))
      names.insert(manPageName(other.path));
  }
  std::string out;
  for (const std::string& name : names)
    out += ".BR " + literal(name) + (name == *names.rbegin() ? " (1)\n" : " (1),\n");
  return out;
}

std::string upperCase(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// "Show a job." as a page's name goes on: "show a job".
std::string summaryOf(const Described& described) {
  std::string text = described.command->get_description();
  if (text.ends_with('.')) text.pop_back();
  text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

void describe(CLI::App& command, const std::string& path, const CLI::App* parent,
              std::vector<Described>& all) {
  all.push_back({path, &command, parent});
  for (CLI::App* below : command.get_subcommands([](CLI::App*) { return true; })) {
    buildCommand(*below);
    describe(*below, path + " " + below->get_name(), &command, all);
  }
}

}  // namespace

std::vector<Described> describedCommands(CLI::App& app) {
  std::vector<Described> all;
  describe(app, "tarcil", nullptr, all);
  return all;
}

std::string manPageName(const std::string& path) {
  std::string name = path;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string manPage(const Described& described, const std::vector<Described>& all) {
  const Help& help = helpOf(*described.command);
  const std::string name = manPageName(described.path);
  return ".TH " + literal(upperCase(name)) + " 1 \"\" \"tarcil " + literal(version()) + "\" \"Tarcil\"\n" +
         section("NAME", literal(name) + " \\- " + textLine(summaryOf(described)) + "\n") +
         section("SYNOPSIS", "\\fBtarcil\\fR " + literal(help.usage) + "\n") +
         section("DESCRIPTION", paragraphs(help.details)) + section("COMMANDS", commandsOf(described)) +
         section("ARGUMENTS", optionsOf(*described.command, true)) +
         section("OPTIONS", optionsOf(*described.command, false)) +
         section("EXAMPLES", *help.examples == '\0' ? "" : asWritten(help.examples)) +
         section("EXIT STATUS", asWritten(exitsOf(help))) + section("SEE ALSO", links(described, all));
}

}  // namespace tarcil
