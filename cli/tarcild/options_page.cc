// tarcil options: the page docs/options.md, from the same descriptions that --help shows.
#include "cli/command_line.h"
#include "cli/commands/commands.h"
#include "cli/output/help.h"
#include "cli/output/output.h"
#include "cli/tarcild/commands.h"
#include "core/base/failure.h"

namespace tarcil {
namespace {

constexpr const char* kIntroduction =
    "# Options\n"
    "\n"
    "Every option of a cluster and its roles. `tarcil options` writes this page from the descriptions that "
    "`--help`\n"
    "shows. Options of roles and of `tarcil up` are fixed while the process runs; those of `tarcil tune` "
    "count for\n"
    "running agents from their next decision on.\n";

// A cell of a table: a bar would end it.
std::string cell(const std::string& text) {
  std::string escaped;
  for (char c : text) escaped.append(c == '|' ? "\\|" : std::string(1, c));
  return escaped;
}

// The command's options under a heading, then those of the commands below it.
std::string sectionsOf(CLI::App& command, const std::string& parent) {
  buildCommand(command);
  const std::string path = parent + " " + command.get_name();
  std::string text;
  for (CLI::App* below : command.get_subcommands([](CLI::App*) { return true; })) {
    text += sectionsOf(*below, path);
  }
  if (!text.empty()) return text;  // one that only groups others
  text = "\n## " + path + "\n\n" + command.get_description() + "\n\n| option | what it does |\n|---|---|\n";
  for (const CLI::Option* option : command.get_options()) {
    if (option == command.get_help_ptr()) continue;
    text += "| `" + cell(labelOf(*option)) + "` | " + cell(option->get_description()) + " |\n";
  }
  return text;
}

int showOptions() {
  CLI::App app;
  addUp(app);
  addServe(app);
  addTune(app);
  std::string text = kIntroduction;
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    text += sectionsOf(*command, "tarcil");
  }
  print(text);
  return kExitDone;
}

}  // namespace

void addOptions(CLI::App& app) {
  addCommand(app, "options",
             {"options", summaryOf("options"),
              "Prints the page docs/options.md: the options of up, serve and tune, as Markdown.",
              "  tarcil options | less\n", "  0  done\n  2  bad arguments\n"},
             [](CLI::App& command) { onRun(command, showOptions); });
}

}  // namespace tarcil
