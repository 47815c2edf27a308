#include "cli/command_line.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/output/color.h"
#include "cli/output/help.h"
#include "cli/output/output.h"
#include "core/base/failure.h"
#include "core/base/text.h"

namespace tarcil {
namespace {

// A command of `tarcil --help`, by its first word.
struct Verb {
  std::string_view name;
  const char* group;  // heading under which it is listed
  // Of a verb of tarcild: its line in the list.
  const char* summary = nullptr;
  // Of a verb that both programs carry out.
  AddVerb add = nullptr;
};

const Help kHelp = {"VERB ...", "Schedule jobs on a cluster, with little interference.",
                    "Runs jobs on a cluster of Linux machines and keeps interference between them low: a "
                    "job's profile says which interference it causes and tolerates, and each of its tasks "
                    "is placed where it runs well and disturbs no other.",
                    "  tarcil up --detach               # a small cluster on this machine\n"
                    "  tarcil run -- uname -a           # one command on it\n"
                    "  tarcil submit examples/compression/job.yaml\n"
                    "  tarcil job list                  # then: job status, explain, logs\n"
                    "  tarcil down\n"
                    "\n"
                    "Every verb explains itself: tarcil job status --help\n",
                    ""};

// In the order of the list. `userCommand` is what follows "--" after `tarcil run`.
std::vector<Verb> verbs(const Words& userCommand) {
  return {
      {.name = "submit", .group = "Jobs", .add = addSubmit},
      {.name = "plan", .group = "Jobs", .add = addPlan},
      {.name = "run", .group = "Jobs", .add = [&](CLI::App& app) { addRun(app, userCommand); }},
      {.name = "job", .group = "Jobs", .add = addJob},
      {.name = "cron", .group = "Jobs", .add = addCron},
      {.name = "status", .group = "Cluster", .add = addStatus},
      {.name = "top", .group = "Cluster", .add = addTop},
      {.name = "up", .group = "Cluster", .summary = "Start a cluster on this machine."},
      {.name = "down", .group = "Cluster", .summary = "Stop the cluster that `tarcil up` started."},
      {.name = "serve", .group = "Cluster", .summary = "Run a role of a cluster."},
      {.name = "init",
       .group = "Cluster",
       .summary = "Make a cluster's authority, and its master's identity."},
      {.name = "join-token", .group = "Cluster", .add = addJoinToken},
      {.name = "join", .group = "Cluster", .summary = "Have this machine join a cluster."},
      {.name = "certificate", .group = "Cluster", .add = addCertificate},
      {.name = "server", .group = "Cluster", .add = addServer},
      {.name = "agent", .group = "Cluster", .add = addAgent},
      {.name = "master", .group = "Cluster", .summary = "Look after the master's store."},
      {.name = "platform", .group = "Cluster", .add = addPlatform},
      {.name = "tune", .group = "Cluster", .add = addTune},
      {.name = "queue", .group = "Jobs", .add = addQueue},
      {.name = "buckets", .group = "Cluster", .add = addBuckets},
      {.name = "usage", .group = "Cluster", .add = addUsage},
      {.name = "user", .group = "Cluster", .add = addUser},
      {.name = "account", .group = "Cluster", .add = addAccount},
      {.name = "secret", .group = "Jobs", .add = addSecret},
      {.name = "login", .group = "Cluster", .add = addLogin},
      {.name = "token", .group = "Cluster", .add = addToken},
      {.name = "audit", .group = "Cluster", .add = addAudit},
      {.name = "metrics", .group = "Cluster", .add = addMetrics},
      {.name = "page", .group = "Cluster", .add = addPage},
      {.name = "record",
       .group = "Cluster",
       .summary = "Record what happens on the cluster, to be replayed under other policies."},
      {.name = "profile", .group = "Tools", .summary = "From a command to a profile."},
      {.name = "quality", .group = "Tools", .add = addQuality},
      {.name = "sim", .group = "Tools", .summary = "Simulate a cluster under one policy or several."},
      {.name = "options", .group = "Tools", .summary = "List every option of a cluster and its roles."},
      {.name = "man", .group = "Tools", .summary = "Print the manual page of a command."},
      {.name = "version", .group = "Tools", .add = addVersion},
  };
}

// The program tarcild takes this process over, with its number, arguments and streams: it lies beside this
// program, or where `cmake --install` puts it.
[[noreturn]] void executeTarcild(std::string_view verb, char** argv) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path folder = program.parent_path();
  const std::filesystem::path beside = folder / "tarcild";
  const std::filesystem::path installed = folder.parent_path() / "libexec/tarcil/tarcild";
  for (const std::filesystem::path& path : {beside, installed}) {
    ::execv(path.c_str(), argv);
    if (errno != ENOENT) {
      throw Failure(kExitFailed, path.string() + ": cannot be executed: " + std::strerror(errno));
    }
  }
  throw Failure(kExitFailed, "`tarcil " + std::string(verb) + "` needs the program tarcild, and neither " +
                                 beside.string() + " nor " + installed.string() +
                                 " is there: install the whole of tarcil on this machine");
}

// Adds the verb that is asked for, all of them where it is none. Does not return where tarcild is to carry
// it out.
void addVerbs(CLI::App& app, const std::vector<Verb>& all, const VerbsOfTarcild& others,
              std::string_view asked, char** argv) {
  const bool isKnown = std::ranges::any_of(all, [asked](const Verb& verb) { return verb.name == asked; });
  for (const Verb& verb : all) {
    const bool isAsked = verb.name == asked;
    if (isKnown && !isAsked) continue;
    if (verb.add) {
      verb.add(app);
    } else if (!others.empty()) {
      others.at(verb.name)(app);
    } else if (isAsked) {
      executeTarcild(verb.name, argv);
    } else {
      addCommand(app, std::string(verb.name), {.summary = verb.summary}, nullptr);
    }
    app.get_subcommand(std::string(verb.name))->group(verb.group);
  }
}

constexpr std::array<std::pair<ColorMode, std::string_view>, 3> kColorModes = {
    {{ColorMode::kAuto, "auto"}, {ColorMode::kAlways, "always"}, {ColorMode::kNever, "never"}}};

// For --help: it is taken out of the words before they are read.
void addColorOption(CLI::App& app) {
  app.add_option(
         "--color",
         "Colours in what is printed for people: auto (on a terminal, unless NO_COLOR is set or TERM is "
         "dumb), always or never; before or behind any command.")
      ->type_name("WHEN");
}

ColorMode colorModeNamed(const std::string& name) {
  const auto found = std::ranges::find(kColorModes, name, &std::pair<ColorMode, std::string_view>::second);
  if (found == kColorModes.end())
    throw badInput("--color: " + shown(name) + " does not fit; write one of auto, always, never");
  return found->first;
}

// Takes --color, which every command has, out of the words in front of "--". The last one counts.
ColorMode takeColorMode(Words& words) {
  constexpr std::string_view kOption = "--color";
  ColorMode mode = ColorMode::kAuto;
  for (auto at = words.begin(); at != words.end() && *at != "--";) {
    if (at->starts_with("--color=")) {
      mode = colorModeNamed(at->substr(kOption.size() + 1));
      at = words.erase(at);
    } else if (*at == kOption) {
      const auto value = at + 1;
      mode = colorModeNamed(value == words.end() ? "" : *value);
      at = words.erase(at, value == words.end() ? value : value + 1);
    } else {
      ++at;
    }
  }
  return mode;
}

std::unique_ptr<CLI::App> emptyApplication() {
  auto app = std::make_unique<CLI::App>(kHelp.summary);
  app->formatter(std::make_shared<CommandHelp>(kHelp));
  app->get_help_ptr()->description("Show this and exit.");
  addColorOption(*app);
  return app;
}

bool asksForHelp(const std::string& word) {
  return word == "-h" || word == "--help";
}

// What other schedulers call what we call otherwise; empty where we know of none.
std::string commandFor(std::string_view word) {
  static const std::map<std::string_view, const char*> kOurs = {
      {"cancel", "tarcil job cancel"}, {"delete", "tarcil job cancel"},   {"describe", "tarcil job explain"},
      {"jobs", "tarcil job list"},     {"kill", "tarcil job cancel"},     {"list", "tarcil job list"},
      {"logs", "tarcil job logs"},     {"ls", "tarcil job list"},         {"nodes", "tarcil server list"},
      {"ps", "tarcil job list"},       {"servers", "tarcil server list"}, {"show", "tarcil job explain"},
      {"start", "tarcil up"},          {"stop", "tarcil down"},           {"wait", "tarcil job wait"}};
  const auto found = kOurs.find(word);
  return found == kOurs.end() ? "" : found->second;
}

// Builds the commands that the words name. Requires that these lead down to one that does something, unless
// help is asked for on the way.
void buildAsked(CLI::App& app, const Words& words) {
  CLI::App* at = &app;
  std::string path = "tarcil";
  for (const std::string& word : words) {
    if (asksForHelp(word)) continue;
    const auto below = at->get_subcommands([](CLI::App*) { return true; });
    if (below.empty() || word.starts_with('-')) break;
    const auto named = std::find_if(below.begin(), below.end(),
                                    [&word](CLI::App* command) { return command->get_name() == word; });
    if (named == below.end()) {
      std::vector<std::string_view> names;
      for (const CLI::App* command : below) names.push_back(command->get_name());
      const std::string ours = at == &app ? commandFor(word) : "";
      throw badInput(shown(word) + " is no command of `" + path + "`; " +
                     (ours.empty() ? didYouMean(word, names) : "for that there is `" + ours + "`; ") +
                     "it has " + joined(names));
    }
    at = *named;
    path += " " + word;
    buildCommand(*at);
  }
  const bool onlyGroups = at == &app || at->get_require_subcommand_min() > 0;
  if (std::ranges::none_of(words, asksForHelp) && onlyGroups &&
      !at->get_subcommands([](const CLI::App*) { return true; }).empty()) {
    throw badInput("say what to do: `" + path + " --help` lists the commands");
  }
}

// How the command that was asked for is called: "tarcil job status".
std::string pathOf(const CLI::App& app) {
  std::string path = "tarcil";
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    path += " " + at->get_name();
  }
  return path;
}

int parseAndRun(CLI::App& app, Words words) {
  try {
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(std::move(words));
    return kExitDone;
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    return kExitDone;
  } catch (const CLI::RuntimeError& ended) {
    return ended.get_exit_code();
  } catch (const CLI::ParseError& error) {
    throw badInput(std::string(error.what()) + "; see `" + pathOf(app) + " --help`");
  }
}

int runWords(Words words, char** argv, const MakeVerbs& verbsOfTarcild) {
  // What `run` is to run is nobody's business here, whatever it looks like.
  Words userCommand;
  const bool isProfiled = words.size() >= 2 && words[0] == "profile" && words[1] == "run";
  if (isProfiled || (!words.empty() && words.front() == "run")) {
    const auto separator = std::find(words.begin(), words.end(), "--");
    if (separator != words.end()) {
      userCommand.assign(separator + 1, words.end());
      words.erase(separator, words.end());
    }
  }
  setColorMode(takeColorMode(words));
  if (words == Words{"--version"} || words == Words{"-v"}) words = {"version"};
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  // What holds for every command may stand before it.
  if (words.size() > 1 && words.front() == "--json")
    std::rotate(words.begin(), words.begin() + 1, words.end());
  const auto app = emptyApplication();
  const VerbsOfTarcild others = verbsOfTarcild ? verbsOfTarcild(userCommand) : VerbsOfTarcild();
  const auto verb = std::ranges::find_if_not(words, asksForHelp);
  addVerbs(*app, verbs(userCommand), others, verb == words.end() ? "" : *verb, argv);
  buildAsked(*app, words);
  return parseAndRun(*app, std::move(words));
}

}  // namespace

std::unique_ptr<CLI::App> wholeApplication(const MakeVerbs& verbsOfTarcild) {
  static const Words none;  // commands are built later
  auto app = emptyApplication();
  addVerbs(*app, verbs(none), verbsOfTarcild(none), "", nullptr);
  return app;
}

const char* summaryOf(std::string_view verb) {
  for (const Verb& known : verbs({})) {
    if (known.name == verb) return known.summary;
  }
  return nullptr;
}

int runCommandLine(int argc, char** argv, const MakeVerbs& verbsOfTarcild) {
  const Outcome outcome = outcomeOf([&]() {
    const int code = runWords({argv + 1, argv + argc}, argv, verbsOfTarcild);
    flushOutput();
    return code;
  });
  say(outcome.message);
  return outcome.code;
}

}  // namespace tarcil
