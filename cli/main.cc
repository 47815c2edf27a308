// The one executable. Finds the verb, lets it read its arguments, runs it, and turns whatever went wrong into
// one message and an exit code.
#include <kj/exception.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>

#include "cli/commands/commands.h"
#include "cli/output/help.h"
#include "cli/output/output.h"
#include "core/base/failure.h"
#include "core/base/text.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

using Words = std::vector<std::string>;

struct Verb {
  std::string_view name;
  const char* group;
  std::function<void(CLI::App&)> add;
};

const Help kHelp = {"VERB ...", "",
                    "Runs jobs on a cluster of Linux machines, where their neighbours suit them: a job says "
                    "in its profile which"
                    " interference it causes and tolerates, and each of its tasks is placed where it runs "
                    "well and disturbs nobody.",
                    "  tarcil up --detach               # a small cluster on this machine\n"
                    "  tarcil run -- uname -a           # one command on it\n"
                    "  tarcil submit examples/compress.yaml\n"
                    "  tarcil job list                  # then: job status, explain, logs\n"
                    "  tarcil down\n"
                    "\n"
                    "Every verb explains itself: tarcil job status --help\n",
                    ""};

// `runCommand` is what follows "--" after `tarcil run` and `tarcil profile run`.
std::vector<Verb> verbs(const Words& runCommand) {
  return {
      {"submit", "Jobs", addSubmit},
      {"plan", "Jobs", addPlan},
      {"run", "Jobs", [&runCommand](CLI::App& app) { addRun(app, runCommand); }},
      {"job", "Jobs", addJob},
      {"up", "Cluster", addUp},
      {"down", "Cluster", addDown},
      {"serve", "Cluster", addServe},
      {"server", "Cluster", addServer},
      {"agent", "Cluster", addAgent},
      {"master", "Cluster", addMaster},
      {"platform", "Cluster", addPlatform},
      {"tune", "Cluster", addTune},
      {"queue", "Jobs", addQueue},
      {"buckets", "Cluster", addBuckets},
      {"usage", "Cluster", addUsage},
      {"user", "Cluster", addUser},
      {"metrics", "Cluster", addMetrics},
      {"record", "Cluster", addRecord},
      {"profile", "Tools", [&runCommand](CLI::App& app) { addProfile(app, runCommand); }},
      {"quality", "Tools", addQuality},
      {"sim", "Tools", addSim},
      {"options", "Tools", addOptions},
      {"version", "Tools", addVersion},
  };
}

// Only the verb that is asked for is built, all of them where it is none: building them is half of the time
// that a short command takes to start.
void addVerbs(CLI::App& app, const std::vector<Verb>& all, const Words& words) {
  const auto isAsked = [&words](const Verb& verb) { return !words.empty() && words.front() == verb.name; };
  const bool isKnown = std::any_of(all.begin(), all.end(), isAsked);
  for (const Verb& verb : all) {
    if (isKnown && !isAsked(verb)) continue;
    verb.add(app);
    app.get_subcommand(std::string(verb.name))->group(verb.group);
  }
}

// Requires that the words name commands down to one that does something, unless help is asked for on the way.
void requireCommand(const CLI::App& app, const Words& words) {
  const CLI::App* at = &app;
  std::string path = "tarcil";
  for (const std::string& word : words) {
    const auto below = at->get_subcommands([](const CLI::App*) { return true; });
    if (below.empty() || word.starts_with('-')) break;
    const auto named = std::find_if(below.begin(), below.end(),
                                    [&word](const CLI::App* command) { return command->get_name() == word; });
    if (named == below.end()) {
      std::vector<std::string_view> names;
      for (const CLI::App* command : below) names.push_back(command->get_name());
      throw badInput(shown(word) + " is no command of `" + path + "`; " + didYouMean(word, names) +
                     "it has " + joined(names));
    }
    at = *named;
    path += " " + word;
  }
  const bool asksForHelp = std::any_of(
      words.begin(), words.end(), [](const std::string& word) { return word == "-h" || word == "--help"; });
  if (!asksForHelp && !at->get_subcommands([](const CLI::App*) { return true; }).empty()) {
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

int runWords(Words words) {
  // What `run` is to run is nobody's business here, whatever it looks like.
  Words command;
  const bool isProfiled = words.size() >= 2 && words[0] == "profile" && words[1] == "run";
  if (isProfiled || (!words.empty() && words.front() == "run")) {
    const auto separator = std::find(words.begin(), words.end(), "--");
    if (separator != words.end()) {
      command.assign(separator + 1, words.end());
      words.erase(separator, words.end());
    }
  }
  if (words == Words{"--version"}) words = {"version"};
  CLI::App app;
  app.formatter(std::make_shared<CommandHelp>(kHelp));
  app.get_help_ptr()->description("Show this and exit.");
  addVerbs(app, verbs(command), words);
  requireCommand(app, words);
  return parseAndRun(app, std::move(words));
}

int runMain(Words words) {
  try {
    const int code = runWords(std::move(words));
    flushOutput();
    return code;
  } catch (const Failure& failure) {
    say(failure.message());
    return failure.code();
  } catch (const kj::Exception& exception) {
    const Error error = fromException(exception);
    say(error.message);
    return exitCodeOf(error.code);
  } catch (const std::exception& exception) {
    say(std::string("unexpected: ") + exception.what());
    return kExitFailed;
  }
}

}  // namespace
}  // namespace tarcil

int main(int argc, char** argv) {
  return tarcil::runMain({argv + 1, argv + argc});
}
