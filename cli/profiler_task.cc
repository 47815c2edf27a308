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

std::vector<std::string> profilerCommand(const std::vector<std::string>& flags,
                                         const std::vector<std::string>& command) {
  // The server's own, of the cluster's version, whatever is installed there (docs/containers.md).
  std::vector<std::string> words = {"tarcil", "profile", "run"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace tarcil
