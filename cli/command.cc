#include "cli/command.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "cli/output/help.h"
#include "core/base/text.h"

namespace tarcil {

namespace {

class Command final : public CLI::App {
 public:
  Command(CLI::App& parent, const std::string& name, const Help& help, BuildCommand build)
      : CLI::App(help.summary, name, &parent), build_(std::move(build)) {
    formatter(std::make_shared<CommandHelp>(help));
    group("Subcommands");  // and not the heading under which the parent is listed
  }

  void build() {
    if (const BuildCommand build = std::exchange(build_, nullptr)) build(*this);
  }

 private:
  BuildCommand build_;
};

}  // namespace

void addCommand(CLI::App& parent, const std::string& name, const Help& help, BuildCommand build) {
  parent.add_subcommand(std::make_shared<Command>(parent, name, help, std::move(build)));
}

void addGroup(CLI::App& parent, const std::string& name, const Help& help, BuildCommand build) {
  addCommand(parent, name, help, std::move(build));
  parent.get_subcommand(name)->require_subcommand(1);
}

void buildCommand(CLI::App& command) {
  static_cast<Command&>(command).build();
}

void onRun(CLI::App& command, std::function<int()> body) {
  command.callback([body = std::move(body)]() {
    // How CLI11 carries a code out of parsing.
    if (const int code = body(); code != 0) throw CLI::RuntimeError(code);
  });
}

CLI::Option* addJsonFlag(CLI::App& command, bool& json) {
  return command.add_flag("--json", json, "Print one JSON value to stdout and nothing else there.");
}

void addJobName(CLI::App& command, std::string& job) {
  command
      .add_option("JOB", job,
                  "The job's number; or name:PATTERN, or id: and the first 4 or more digits of its id.")
      ->required();
}

CLI::Option* addJobNames(CLI::App& command, std::vector<std::string>& jobs) {
  return command
      .add_option("JOB", jobs,
                  "The jobs' numbers; or name:PATTERN, or id: and the first 4 or more digits of an id.")
      ->required();
}

void addOutputFlags(CLI::App& command, OutputFlags& flags) {
  addJsonFlag(command, flags.json);
  command.add_flag("--verbose", flags.verbose, "Show ids and times in full, times by your clock.");
}

void addClusterFlags(CLI::App& command, ContextFlags& flags) {
  command
      .add_option("--data", flags.data,
                  "Folder of a cluster on this machine, as given to `tarcil up`; default TARCIL_DATA, else"
                  " below XDG_STATE_HOME or ~/.local/state.")
      ->type_name("DIR");
  command
      .add_option("--cluster", flags.cluster,
                  "Agents of a remote cluster: unix:/path or host:port, several with commas between them;"
                  " default TARCIL_CLUSTER.")
      ->check(notEmpty())
      ->type_name("ADDR[,ADDR]");
  command
      .add_option("--token-file", flags.tokenFile,
                  "File with your token, readable by you alone; default TARCIL_TOKEN_FILE.")
      ->type_name("FILE");
}

CLI::Validator wholeNumber(int64_t least, int64_t most) {
  CLI::Validator check("");
  check.operation([least, most](std::string& text) -> std::string {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most)
      return "";
    return "'" + text + "' does not fit; write a whole number from " + std::to_string(least) + " to " +
           std::to_string(most);
  });
  return check;
}

CLI::Validator notEmpty() {
  CLI::Validator check("");
  check.operation([](std::string& text) -> std::string {
    return text.empty() ? "is empty; write what it is to be, or leave the option out" : "";
  });
  return check;
}

CLI::Validator oneOf(std::vector<std::string_view> words) {
  CLI::Validator check("");
  check.operation([words = std::move(words)](std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return "";
    return "'" + text + "' does not fit; " + didYouMean(text, words) + "write one of " + joined(words);
  });
  return check;
}

}  // namespace tarcil
