// tarcil job status: one job and its tasks.
#include "cli/output/job_status.h"
#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/late_job.h"
#include "cli/output/output.h"
#include "core/base/failure.h"

namespace tarcil {
namespace {

struct StatusFlags {
  ContextFlags cluster;
  OutputFlags output;
  std::string id;
};

int status(const StatusFlags& flags) {
  Cluster cluster(flags.cluster);
  const JobId id = cluster.job(flags.id);
  const auto found = tryFetchJob(cluster, id);
  if (!found) {
    const LateJobStatus late = requireLateJob(cluster, id);
    if (flags.output.json) {
      printJson(jsonOf(late));
    } else {
      print(textOf(late, styleFor(flags.output.verbose)));
    }
    return kExitDone;
  }
  const JobStatus& job = *found;
  if (flags.output.json) {
    printJson(jsonOf(job));
  } else {
    print(textOf(job, styleFor(flags.output.verbose)));
  }
  return kExitDone;
}

}  // namespace

void addJobStatus(CLI::App& job) {
  addCommand(
      job, "status",
      {"job status [OPTIONS] ID", "Show a job and where its tasks are.",
       "The job's state, why it waits and how many jobs are ahead of it, and for each task: its server and "
       "resource units, the quality Q and satisfaction S of its slot, and how it ended.\n\n"
       "States: queued, starting, running, done, failed, cancelled, lost.",
       "  tarcil job status 3f2a\n"
       "  tarcil job status --json 3f2a91c07d5e4b8896a1f0c2d3e4b5a6\n",
       ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<StatusFlags>();
        command.add_option("ID", flags->id, "The job's id, or the first 4 or more digits of it.")->required();
        addOutputFlags(command, flags->output);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return status(*flags); });
      });
}

}  // namespace tarcil
