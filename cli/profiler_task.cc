#include "cli/profiler_task.h"

#include "cli/known_applications.h"
#include "cli/stored_profiles.h"

namespace tarcil {

std::vector<PartialProfile> knownToCluster(Cluster& cluster, const std::string& application) {
  return knownApplications(keptProfiles(cluster).stored, application);
}

InputFile fileOf(const std::vector<PartialProfile>& known) {
  return {.path = kShippedApplications, .content = yamlOf(known)};
}

namespace {

// The server's own, of the cluster's version, whatever is installed there (docs/containers.md).
std::vector<std::string> profiler(const std::vector<std::string>& words) {
  std::vector<std::string> command = {"tarcil", "profile"};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

}  // namespace

JobSpec profilerJob(const std::string& name, const ServerFacts& server,
                    const std::vector<std::string>& words) {
  JobSpec spec;
  spec.name = name;
  spec.command = profiler(words);
  spec.rusPerTask = server.rus;
  spec.placement.constraints = {{"server", Constraint::Operator::kEqual, {server.name}}};
  spec.restart.onLost = false;
  return spec;
}

std::vector<std::string> profilerWords(const std::vector<std::string>& flags,
                                       const std::vector<std::string>& command) {
  std::vector<std::string> words = {"run"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

std::vector<std::string> profilerCommand(const std::vector<std::string>& flags,
                                         const std::vector<std::string>& command) {
  return profiler(profilerWords(flags, command));
}

}  // namespace tarcil
