// tarcil status: the cluster and your jobs on one page.
#include "cli/cluster.h"
#include "cli/cluster_summary.h"
#include "cli/commands/commands.h"
#include "cli/job_choice.h"
#include "cli/job_listing.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "core/base/failure.h"

namespace tarcil {
namespace {

// Jobs that are looked at, at most: an operator sees everybody's.
constexpr size_t kMaxJobs = 10'000;
constexpr auto kLately = std::chrono::hours(24);

struct StatusFlags {
  ContextFlags cluster;
  bool json = false;
};

Counts countJobs(Cluster& cluster, const JobFilter& filter) {
  Counts counts;
  JobListing listing(cluster, filter, kMaxJobs, std::nullopt);
  for (size_t left = kMaxJobs; left > 0; --left) {
    const auto entry = listing.next();
    if (!entry) break;
    ++counts[std::string(name(fromWire(entry->job.getState())))];
  }
  return counts;
}

int show(const StatusFlags& flags) {
  const Style style = styleFor(false);
  Cluster cluster(flags.cluster);
  const ClusterSummary summary = fetchSummary(cluster);
  const Counts unfinished = countJobs(cluster, {.states = {kUnfinished.begin(), kUnfinished.end()}});
  const Counts failed = countJobs(
      cluster, {.states = {kEndedBadly.begin(), kEndedBadly.end()}, .since = style.clock.now - kLately});
  sayWarning(summary.servers.warning);
  if (flags.json) {
    Json json = jsonOf(summary);
    json["jobs"] = unfinished;
    json["ended_badly"] = failed;
    printJson(json);
    return kExitDone;
  }
  Fields fields = fieldsOf(summary);
  fields.emplace_back("Your jobs", countsText(unfinished, "none"));
  fields.emplace_back("Of the last day", countsText(failed, "none that did not end well"));
  print(aligned(fields));
  return kExitDone;
}

}  // namespace

void addStatus(CLI::App& app) {
  addCommand(
      app, "status",
      {"status [OPTIONS]", "Show the cluster and your jobs at a glance.",
       "How many servers and agents there are and in which state, how many units of servers that are up "
       "are free, how many jobs wait, and how many of yours are under way or did not end well, of those "
       "submitted in the last 24 hours; as an operator, of everybody's, the newest 10,000. What is more "
       "is shown by `tarcil server list`, `tarcil agent list`, `tarcil queue` and `tarcil job list`.",
       "  tarcil status\n"
       "  tarcil status --watch\n"
       "  tarcil status --json\n",
       ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<StatusFlags>();
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return show(*flags); });
      });
}

}  // namespace tarcil
