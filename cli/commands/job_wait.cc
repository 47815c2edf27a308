// tarcil job wait: until jobs have ended.
#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/late_agents.h"
#include "cli/output/job_status.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "core/base/failure.h"

namespace tarcil {
namespace {

struct WaitFlags {
  ContextFlags cluster;
  OutputFlags output;
  std::vector<std::string> ids;
};

RunState waitForOne(Cluster& cluster, const JobId& id) {
  if (const auto state = cluster.wait(foundOrNothing(waitForJob(cluster.client(), id)))) return *state;
  LateAgents agents(cluster);
  if (const auto late = agents.wait(id)) return *late;
  throw agents.unknown(id);
}

int wait(const WaitFlags& flags) {
  Cluster cluster(flags.cluster);
  const std::vector<JobId> ids = cluster.jobs(flags.ids);
  const Style style = styleFor(flags.output.verbose);
  Table table({"Id", "State"});
  Json list = Json::array();
  bool allDone = true;
  // One after the other: all of them are waited for, and the last to end decides when.
  for (const JobId& id : ids) {
    const RunState state = waitForOne(cluster, id);
    allDone = allDone && state == RunState::kDone;
    table.add({style.id(id), std::string(name(state))});
    list.push_back({{"id", toString(id)}, {"state", name(state)}});
  }
  if (flags.output.json) {
    printJson(list);
  } else {
    print(table.text());
  }
  return allDone ? kExitDone : kExitFailed;
}

}  // namespace

void addJobWait(CLI::App& job) {
  addCommand(job, "wait",
             {"job wait [OPTIONS] ID...", "Wait until jobs have ended.",
              "Returns when all of the jobs have ended and their ends are on disk; at once for jobs that "
              "are over.",
              "  tarcil job wait 3f2a && echo it worked\n"
              "  tarcil job wait --json 3f2a 77b0\n",
              "  0  every job is done\n"
              "  1  a job failed, was cancelled or lost; or there is no such job\n"
              "  2  bad arguments\n"
              "  3  no cluster in reach, or not allowed\n"},
             [](CLI::App& command) {
               auto flags = std::make_shared<WaitFlags>();
               command.add_option("ID", flags->ids, "Ids of jobs, or the first 4 or more digits of each.")
                   ->required();
               addOutputFlags(command, flags->output);
               addClusterFlags(command, flags->cluster);
               onRun(command, [flags]() { return wait(*flags); });
             });
}

}  // namespace tarcil
