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
  std::vector<std::string> jobs;
};

RunState waitForOne(Cluster& cluster, const JobId& id) {
  if (const auto state = cluster.wait(foundOrNothing(waitForJob(cluster.client(), id)))) return *state;
  LateAgents agents(cluster);
  if (const auto late = agents.wait(id)) return *late;
  throw agents.unknown(id);
}

int wait(const WaitFlags& flags) {
  Cluster cluster(flags.cluster);
  const std::vector<FoundJob> jobs = cluster.jobs(flags.jobs);
  const Style style = styleFor(flags.output.verbose);
  Table table({"Job", "State"});
  Json list = Json::array();
  bool allDone = true;
  // One after the other: all of them are waited for, and the last to end decides when.
  for (const FoundJob& job : jobs) {
    const RunState state = waitForOne(cluster, job.id);
    allDone = allDone && state == RunState::kDone;
    table.add({style.job(job.number, job.id), std::string(name(state))});
    list.push_back({{"id", toString(job.id)}, {"number", jsonNumber(job.number)}, {"state", name(state)}});
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
             {"job wait [OPTIONS] JOB...", "Wait until jobs have ended.",
              "Returns when all of the jobs have ended and their ends are on disk; at once for jobs that "
              "are over.",
              "  tarcil job wait 4711 && echo it worked\n"
              "  tarcil job wait --json 4711 4712\n",
              "  0  every job is done\n"
              "  1  a job failed, was cancelled or lost; or there is no such job\n"
              "  2  bad arguments\n"
              "  3  no cluster in reach, or not allowed\n"},
             [](CLI::App& command) {
               auto flags = std::make_shared<WaitFlags>();
               addJobNames(command, flags->jobs);
               addOutputFlags(command, flags->output);
               addClusterFlags(command, flags->cluster);
               onRun(command, [flags]() { return wait(*flags); });
             });
}

}  // namespace tarcil
