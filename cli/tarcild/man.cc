// tarcil man: the manual pages.
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/output/man_page.h"
#include "cli/output/output.h"
#include "cli/tarcild/commands.h"
#include "core/base/failure.h"
#include "core/base/text.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;

struct ManFlags {
  std::vector<std::string> command;
  std::string into;
};

void writePage(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw Failure(kExitFailed, path.string() + ": cannot be written: " + std::strerror(errno));
}

int writePages(const std::vector<Described>& all, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Failure(kExitFailed, folder.string() + ": cannot be made: " + error.message());
  for (const Described& one : all) writePage(folder / (manPageName(one.path) + ".1"), manPage(one, all));
  return kExitDone;
}

int showPage(const std::vector<Described>& all, const std::vector<std::string>& words) {
  std::string path = "tarcil";
  for (const std::string& word : words) path += " " + word;
  const auto found = std::ranges::find(all, path, &Described::path);
  if (found == all.end())
    throw badInput("COMMAND: " + shown(path) + " is no command; `tarcil --help` lists those that there are");
  print(manPage(*found, all));
  return kExitDone;
}

int run(const ManFlags& flags, const MakeVerbs& verbs) {
  const auto app = wholeApplication(verbs);
  const std::vector<Described> all = describedCommands(*app);
  return flags.into.empty() ? showPage(all, flags.command) : writePages(all, flags.into);
}

}  // namespace

void addMan(CLI::App& app, const MakeVerbs& verbs) {
  addCommand(
      app, "man",
      {"man [OPTIONS] [COMMAND...]", summaryOf("man"),
       "Prints the manual page of a command, or of tarcil itself, for man(1), which shows it: it says what "
       "--help says, and links to the pages of the commands around it. Where tarcil is installed, `man "
       "tarcil-job-list` finds the page by itself.",
       "  tarcil man job list | man -l -\n"
       "  tarcil man --into ~/.local/share/man/man1\n",
       "  0  done\n"
       "  1  a page could not be written\n"
       "  2  bad arguments\n"},
      [verbs](CLI::App& command) {
        auto flags = std::make_shared<ManFlags>();
        CLI::Option* words =
            command.add_option("COMMAND", flags->command, "The words of the command, such as: job list.");
        command
            .add_option("--into", flags->into,
                        "Write the pages of all commands into this folder, such as tarcil-job-list.1.")
            ->check(notEmpty())
            ->excludes(words)
            ->type_name("DIR");
        onRun(command, [flags, verbs]() { return run(*flags, verbs); });
      });
}

}  // namespace tarcil
