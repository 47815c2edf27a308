#include "cli/cluster_profile.h"

#include "cli/failure.h"
#include "cli/foreground_job.h"
#include "cli/known_applications.h"
#include "cli/output.h"
#include "cli/profiling_server.h"
#include "cli/render.h"
#include "cli/stored_profiles.h"

namespace tarcil {
namespace {

// Those of ProfileForms.
constexpr const char* kJson = "json";
constexpr const char* kText = "text";
constexpr const char* kProfile = "profile";

JobSpec specFor(const ClusterProfiling& profiling, const ServerFacts& server) {
  JobSpec spec;
  spec.name = profiling.name;
  std::vector<std::string> flags = {"--all-forms", "--data=."};
  flags.insert(flags.end(), profiling.flags.begin(), profiling.flags.end());
  spec.command = profilerCommand(flags, profiling.command);
  spec.rusPerTask = server.rus;
  spec.placement.constraints = {{"server", Constraint::Operator::kEqual, {server.name}}};
  spec.restart.onLost = false;
  return spec;
}

ProfileForms formsIn(const std::string& output, const std::string& server) {
  const Json all = Json::parse(output, nullptr, /*allow_exceptions=*/false);
  const auto hasText = [&all](const char* key) { return all.contains(key) && all[key].is_string(); };
  if (!all.is_object() || !all.contains(kJson) || !hasText(kText) || !hasText(kProfile)) {
    throw Failure(kExitFailed, "the profiler on " + server +
                                   " has not said what it found: is its monitor of "
                                   "another version?");
  }
  return {all[kJson], all[kText].get<std::string>(), all[kProfile].get<std::string>()};
}

}  // namespace

std::vector<ServerDetails> serversOf(Cluster& cluster) {
  auto answer = cluster.ask([](Session& session) { return session.user.serversRequest().send(); });
  std::vector<ServerDetails> servers;
  for (auto server : answer.getServers()) servers.push_back(readServer(server));
  return servers;
}

InputFile knownToCluster(Cluster& cluster, const std::string& application) {
  return {.path = kShippedApplications,
          .content = yamlOf(knownApplications(keptProfiles(cluster).stored, application))};
}

std::vector<std::string> profilerCommand(const std::vector<std::string>& flags,
                                         const std::vector<std::string>& command) {
  // The server's own, of the cluster's version, whatever is installed there (docs/containers.md).
  std::vector<std::string> words = {"tarcil", "profile", "run"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

Json jsonOf(const ProfileForms& forms) {
  return {{kJson, forms.json}, {kText, forms.text}, {kProfile, forms.yaml}};
}

ClusterProfile profileOnCluster(Cluster& cluster, const ClusterProfiling& profiling) {
  const std::vector<ServerDetails> servers = serversOf(cluster);
  const auto chosen = serverToProfileOn(servers, profiling.server, profiling.cores);
  if (!chosen) throw Failure(kExitFailed, chosen.error().message);
  const ServerFacts& server = (*chosen)->facts;
  const bool isInUse = (*chosen)->status.free.size() < server.rus;
  say("measuring on " + server.name + ", with all of its " + counted(server.rus, "unit") +
      (isInUse ? " once they are free" : ""));
  const JobSpec spec = specFor(profiling, server);
  std::string output;
  const int code = ForegroundJob(cluster, spec, {profiling.files, &output}).run();
  if (code != 0) {
    throw Failure(code == kExitOfTarcil ? kExitFailed : code, "nothing was measured on " + server.name);
  }
  ClusterProfile measured{formsIn(output, server.name), server.name, server.platform};
  measured.forms.json["server"] = server.name;
  return measured;
}

}  // namespace tarcil
