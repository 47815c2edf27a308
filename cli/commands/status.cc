// tarcil status: the cluster and your jobs on one page.
#include "cli/cluster.h"
#include "cli/cluster_summary.h"
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "core/base/failure.h"

namespace tarcil {
namespace {

struct StatusFlags {
  ContextFlags cluster;
  bool json = false;
};

int show(const StatusFlags& flags) {
  const Style style = styleFor(false);
  Cluster cluster(flags.cluster);
  const ClusterStatus status = fetchStatus(cluster, style.clock.now);
  sayWarning(status.summary.servers.warning);
  if (flags.json) {
    printJson(jsonOf(status));
    return kExitDone;
  }
  Fields fields = fieldsOf(status.summary);
  fields.emplace_back("Your jobs", countsText(status.unfinished, "none"));
  fields.emplace_back("Of the last day", countsText(status.endedBadly, "none that did not end well"));
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
