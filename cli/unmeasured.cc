#include "cli/unmeasured.h"

#include <algorithm>

#include "classifier/assumed_profile.h"
#include "cli/known_applications.h"
#include "cli/output/output.h"
#include "cli/profiler_task.h"
#include "cli/profiling_server.h"
#include "core/base/failure.h"
#include "core/model/constraint.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

// Enough for a command whose runs take as long as the profiler lets them.
constexpr Duration kMaxMeasurement = std::chrono::minutes(30);

bool suits(const JobSpec& job, const ServerFacts& server) {
  const bool hasExtras = std::ranges::all_of(job.extras, [&server](const auto& extra) {
    const auto found = server.extras.find(extra.first);
    return found != server.extras.end() && found->second >= extra.second;
  });
  return hasExtras && meets(server, job.placement.constraints);
}

// Nothing is put into a working folder that others use, too: there the profiler has what came with it.
bool infersFromFile(const JobSpec& job) {
  return job.workdir.empty();
}

}  // namespace

Profile profileUntilMeasured(const std::string& application) {
  Profile profile =
      assumedProfile(requireInput(parseApplications(shippedApplications(), "known applications")));
  profile.application = application;
  return profile;
}

Result<JobSpec> measuringJob(const JobSpec& job, const std::vector<ServerDetails>& servers) {
  if (!job.container.seesTheServer()) {
    return invalid("its tasks have a file system of their own, which a profiler has no place in");
  }
  std::vector<ServerDetails> suiting;
  std::ranges::copy_if(servers, std::back_inserter(suiting),
                       [&job](const ServerDetails& server) { return suits(job, server.facts); });
  if (suiting.empty()) return notFound("no server meets the job's constraints");
  const auto alike = serversToProfileOn(suiting, job.rusPerTask);
  if (!alike) return alike.error();

  JobSpec spec;
  spec.measures = job.profile.application;
  spec.name = "profiling " + spec.measures;
  // Its scratch file and what it calibrates stay out of a working folder that others use, too.
  std::vector<std::string> flags = {"--report", "--data=/tmp", "--scratch=/tmp",
                                    "--application=" + spec.measures,
                                    "--rus=" + std::to_string(job.rusPerTask)};
  if (infersFromFile(job)) flags.push_back(std::string("--known=") + kShippedApplications);
  spec.command = profilerCommand(flags, job.command);
  spec.env = job.env;
  spec.workdir = job.workdir;
  spec.user = job.user;
  spec.extras = job.extras;
  spec.container.network = job.container.network;
  spec.rusPerTask = alike->rus;
  std::vector<std::string> names = alike->names;
  names.resize(std::min(names.size(), kMaxConstraintValues));
  spec.placement.constraints = {onServers(std::move(names))};
  spec.priority = 0;
  spec.preemptible = true;
  spec.restart.onLost = false;
  spec.timeout = kMaxMeasurement;
  return spec;
}

void submitMeasuring(Cluster& cluster, const JobSpec& job, std::vector<InputFile> files) {
  const std::string& application = job.profile.application;
  auto failure = kj::runCatchingExceptions([&]() {
    const auto spec = measuringJob(job, fetchServers(cluster).servers);
    if (!spec) return say(application + " is not measured: " + spec.error().message);
    if (infersFromFile(job)) files.push_back(fileOf(knownToCluster(cluster, application)));
    const JobId id = makeJobId();
    cluster.wait(submitJob(cluster.client(), id, *spec, files));
    say(application + " has no profile yet: job " + toString(id) +
        " measures it, for the jobs that come later");
  });
  KJ_IF_MAYBE (exception, failure) {
    say(application + " is not measured now: " + fromException(*exception).message);
  }
}

}  // namespace tarcil
