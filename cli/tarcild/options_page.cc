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

// The application's commands that do something, with those that they are below: "tarcil serve master".
std::vector<std::pair<std::string, CLI::App*>> commandsOf(CLI::App& command, const std::string& path) {
  buildCommand(command);
  std::vector<std::pair<std::string, CLI::App*>> commands;
  for (CLI::App* below : command.get_subcommands([](CLI::App*) { return true; })) {
    for (auto& one : commandsOf(*below, path + " " + below->get_name())) commands.push_back(std::move(one));
  }
  if (commands.empty()) commands.emplace_back(path, &command);
  return commands;
}

std::vector<const CLI::Option*> optionsOf(const CLI::App& command) {
  return command.get_options(
      [&command](const CLI::Option* option) { return option != command.get_help_ptr(); });
}

// The command's options under a heading.
std::string sectionOf(const std::string& path, const CLI::App& command) {
  std::string text =
      "\n## " + path + "\n\n" + command.get_description() + "\n\n| option | what it does |\n|---|---|\n";
  for (const CLI::Option* option : optionsOf(command))
    text += "| `" + cell(labelOf(*option)) + "` | " + cell(option->get_description()) + " |\n";
  return text;
}

Json jsonOf(const std::string& path, const CLI::App& command) {
  Json options = Json::array();
  for (const CLI::Option* option : optionsOf(command))
    options.push_back({{"option", labelOf(*option)}, {"description", option->get_description()}});
  return {{"command", path}, {"description", command.get_description()}, {"options", std::move(options)}};
}

int showOptions(bool isJson) {
  CLI::App app;
  addUp(app);
  addServe(app);
  addTune(app);
  std::string text = kIntroduction;
  Json json = Json::array();
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    for (const auto& [path, one] : commandsOf(*command, "tarcil " + command->get_name())) {
      text += sectionOf(path, *one);
      json.push_back(jsonOf(path, *one));
    }
  }
  isJson ? printJson(json) : print(text);
  return kExitDone;
}

}  // namespace

void addOptions(CLI::App& app) {
  addCommand(app, "options",
             {"options [OPTIONS]", summaryOf("options"),
              "Prints the page docs/options.md: the options of up, serve and tune, as Markdown.",
              "  tarcil options | less\n  tarcil options --json\n", "  0  done\n  2  bad arguments\n"},
             [](CLI::App& command) {
               auto json = std::make_shared<bool>(false);
               addJsonFlag(command, *json);
               onRun(command, [json]() { return showOptions(*json); });
             });
}

}  // namespace tarcil
