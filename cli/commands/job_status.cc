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
  std::string job;
};

void leaveOnly(TaskIndex task, JobStatus& job) {
  const size_t tasks = job.tasks.size();
  std::erase_if(job.tasks, [task](const TaskRecord& record) { return record.index != task; });
  if (!job.tasks.empty()) return;
  throw Failure(kExitFailed, "the job has no task " + std::to_string(task) + ": it has " +
                                 std::to_string(tasks) + ", from 0");
}

int status(const StatusFlags& flags) {
  Cluster cluster(flags.cluster);
  const FoundJob named = cluster.job(flags.job);
  auto found = tryFetchJob(cluster, named.id);
  if (!found) {
    LateJobStatus late = requireLateJob(cluster, named.id);
    addWhyItWaits(cluster, late);
    if (flags.output.json) {
      printJson(jsonOf(late));
    } else {
      print(textOf(late, styleFor(flags.output.verbose)));
    }
    return kExitDone;
  }
  JobStatus& job = *found;
  if (named.task) leaveOnly(*named.task, job);
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
      {"job status [OPTIONS] JOB", "Show a job and where its tasks are.",
       "The job's state, why it waits and how many jobs are ahead of it, and for each task: its server and "
       "resource units, the quality Q and satisfaction S of its slot, and how it ended.\n\n"
       "States: queued, starting, running, done, failed, cancelled, lost.",
       "  tarcil job status 4711\n"
       "  tarcil job status 4711.3                     # its task 3 alone\n"
       "  tarcil job status --json id:3f2a91c0\n",
       ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<StatusFlags>();
        addJobName(command, flags->job);
        addOutputFlags(command, flags->output);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return status(*flags); });
      });
}

}  // namespace tarcil
