#include "cli/command.h"

#include <kj/exception.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <utility>

#include "cli/output/help.h"
#include "cli/watch.h"
#include "core/base/failure.h"
#include "core/base/text.h"
#include "rpc/errors.h"

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
    const BuildCommand build = std::exchange(build_, nullptr);
    if (!build) return;
    build(*this);
    if (isWatchable(path())) addWatch();
  }

  void onRun(std::function<int()> body) {
    callback([this, body = std::move(body)]() {
      const int code = watch_.empty() ? body() : watch(watched(), body);
      // How CLI11 carries a code out of parsing.
      if (code != 0) throw CLI::RuntimeError(code);
    });
  }

 private:
  // "tarcil job list".
  std::string path() const {
    std::string path;
    for (const CLI::App* at = this; at->get_parent() != nullptr; at = at->get_parent())
      path.insert(0, " " + at->get_name());
    return "tarcil" + path;
  }

  void addWatch() {
    add_option("--watch", watch_,
               "Show it again and again, so many seconds after each answer; default 2, at least 0.5. On a "
               "terminal q ends it.")
        ->expected(0, 1)
        ->default_str("2")
        ->check(watchPeriod())
        ->type_name("[SECONDS]");
  }

  Watched watched() const {
    const CLI::Option* json = get_option_no_throw("--json");
    return {path(), periodOf(watch_), json != nullptr && !json->empty()};
  }

  BuildCommand build_;
  std::string watch_;  // seconds; empty: once
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
  static_cast<Command&>(command).onRun(std::move(body));
}

Outcome outcomeOf(const std::function<int()>& body) {
  try {
    return {body()};
  } catch (const Failure& failure) {
    return {failure.code(), failure.message()};
  } catch (const kj::Exception& exception) {
    const Error error = fromException(exception);
    return {exitCodeOf(error.code), error.message};
  } catch (const std::exception& exception) {
    return {kExitFailed, std::string("unexpected: ") + exception.what()};
  }
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
  command
      .add_option("--authority", flags.authority,
                  "Certificate of the authority of a remote cluster, its identity/authority.pem; default"
                  " TARCIL_AUTHORITY, else that of --data.")
      ->type_name("FILE");
  command.add_flag("--insecure", flags.insecure,
                   "Without that, send your token to other machines in clear; also by TARCIL_INSECURE=1.");
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
