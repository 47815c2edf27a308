#include "cli/tarcild/cluster_profile.h"

#include <signal.h>

#include <cmath>
#include <optional>
#include <set>

#include "cli/foreground_job.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/server_details.h"
#include "cli/profiler_task.h"
#include "cli/profiling_server.h"
#include "core/base/failure.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

// Those of ProfileForms.
constexpr const char* kJson = "json";
constexpr const char* kText = "text";
constexpr const char* kProfile = "profile";

JobSpec specFor(const ClusterProfiling& profiling, const ServerFacts& server, const char* form) {
  std::vector<std::string> flags = {form, "--data=."};
  flags.insert(flags.end(), profiling.flags.begin(), profiling.flags.end());
  return profilerJob(profiling.name, server, profilerWords(flags, profiling.command));
}

// Runs the profiler on a server that it has to itself; what it wrote to stdout goes to `output`. Its
// exit code.
int profileOn(const ServerDetails& server, Cluster& cluster, const ClusterProfiling& profiling,
              const char* form, std::string& output) {
  const ServerFacts& facts = server.facts;
  const bool isInUse = server.status.free.size() < facts.rus;
  say("measuring on " + facts.name + ", with all of its " + counted(facts.rus, "unit") +
      (isInUse ? " once they are free" : ""));
  const JobSpec spec = specFor(profiling, facts, form);
  std::vector<InputFile> files = profiling.files;
  files.push_back(fileOf(profiling.known));
  return ForegroundJob(cluster, spec, {std::move(files), &output}).run();
}

ProfileForms formsIn(const std::string& output, const std::string& server) {
  const Json all = Json::parse(output, nullptr, /*allow_exceptions=*/false);
  const auto hasText = [&all](const char* key) { return all.contains(key) && all[key].is_string(); };
  if (!all.is_object() || !all.contains(kJson) || !hasText(kText) || !hasText(kProfile)) {
    throw Failure(kExitFailed, "the profiler on " + server +
                                   " has not said what it found: is its monitor of another version?");
  }
  return {all[kJson], all[kText].get<std::string>(), all[kProfile].get<std::string>()};
}

// Nothing where a profiler of another version says none, or the command reports that it does nothing.
std::optional<double> performanceIn(const Json& json) {
  const Json alone = json.is_object() ? json.value(Json::json_pointer("/performance/alone"), Json()) : Json();
  if (!alone.is_number()) return std::nullopt;
  const double performance = alone;
  return performance > 0 && std::isfinite(performance) ? std::optional(performance) : std::nullopt;
}

// How the command runs alone there; nothing, with a warning, where that cannot be told. Failure where a
// signal cancelled it.
std::optional<PlatformRun> runAloneOn(const ServerDetails& server, Cluster& cluster,
                                      const ClusterProfiling& profiling) {
  const ServerFacts& facts = server.facts;
  say("platform " + facts.platform + ": how fast the command is alone");
  std::string output, why = "nothing was measured on " + facts.name;
  int code = kExitFailed;
  auto failure =
      kj::runCatchingExceptions([&]() { code = profileOn(server, cluster, profiling, "--alone", output); });
  KJ_IF_MAYBE (exception, failure) {
    why = fromException(*exception).message;
  }
  if (code == kExitSignal + SIGINT || code == kExitSignal + SIGTERM) {
    throw Failure(code, "cancelled: nothing that was measured is stored");
  }
  const auto performance =
      code == 0 ? performanceIn(Json::parse(output, nullptr, /*allow_exceptions=*/false)) : std::nullopt;
  if (performance) return PlatformRun{facts.platform, facts.name, *performance};
  sayWarning("platform " + facts.platform + " is left out: " + why);
  return std::nullopt;
}

// Measures and infers the platforms beside that of `measured`, and says so in its forms.
void measureOtherPlatforms(Cluster& cluster, const ClusterProfiling& profiling, ClusterProfile& measured) {
  const std::vector<ServerDetails> servers = fetchServers(cluster).servers;
  std::set<std::string> platforms;
  for (const ServerDetails& server : servers) platforms.insert(server.facts.platform);
  const PlatformCompleter completer(speedsOn(platforms, profiling.known));
  std::vector<PlatformRun> runs;
  if (const auto performance = performanceIn(measured.forms.json)) {
    runs.push_back({measured.platform, measured.server, *performance});
    for (const ServerDetails* server : serversOfOtherPlatforms(
             servers, measured.platform, completer.reference(), profiling.cores, profiling.platforms - 1)) {
      if (auto run = runAloneOn(*server, cluster, profiling)) runs.push_back(std::move(*run));
    }
  }
  addPlatforms(measured.forms, runs, completer.complete(speedsOf(runs)));
}

}  // namespace

Json jsonOf(const ProfileForms& forms) {
  return {{kJson, forms.json}, {kText, forms.text}, {kProfile, forms.yaml}};
}

ClusterProfile profileOnCluster(Cluster& cluster, const ClusterProfiling& profiling) {
  const std::vector<ServerDetails> servers = fetchServers(cluster).servers;
  const auto chosen = serverToProfileOn(servers, profiling.server, profiling.cores);
  if (!chosen) throw Failure(kExitFailed, chosen.error().message);
  const ServerFacts& server = (*chosen)->facts;
  std::string output;
  const int code = profileOn(**chosen, cluster, profiling, "--all-forms", output);
  if (code != 0) {
    throw Failure(code == kExitOfTarcil ? kExitFailed : code, "nothing was measured on " + server.name);
  }
  ClusterProfile measured{formsIn(output, server.name), server.name, server.platform};
  measured.forms.json["server"] = server.name;
  measureOtherPlatforms(cluster, profiling, measured);
  return measured;
}

}  // namespace tarcil
