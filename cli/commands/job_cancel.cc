// tarcil job cancel: stops jobs.
#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/job_choice.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "cli/steering.h"
#include "core/base/failure.h"

namespace tarcil {
namespace {

struct CancelFlags {
  ContextFlags cluster;
  OutputFlags output;
  JobChoiceFlags jobs;
};

int cancel(const CancelFlags& flags) {
  Cluster cluster(flags.cluster);
  const std::vector<FoundJob> jobs = chosenJobs(cluster, flags.jobs, kUnfinished);
  const Style style = styleFor(flags.output.verbose);
  Json list = Json::array();
  std::string text;
  for (const FoundJob& job : jobs) {
    const RunState before = cancelJob(cluster, job.id);
    list.push_back(jsonOfCancelled(job, before));
    const std::string shown = style.job(job.number, job.id);
    text += isFinal(before) ? aligned({{"Was over", shown + " (" + std::string(name(before)) + ")"}})
                            : aligned({{"Cancelled", shown}});
  }
  if (flags.output.json) {
    printJson(list);
  } else {
    print(text);
  }
  return kExitDone;
}

}  // namespace

void addJobCancel(CLI::App& job) {
  addCommand(job, "cancel",
             {"job cancel [OPTIONS] [JOB...]", "Cancel jobs.",
              "Waiting tasks are cancelled; running ones get SIGTERM, and SIGKILL when the job's grace "
              "period is over. Returns when the cancellation is on disk; `tarcil job wait` waits for the "
              "end. A job that is over stays as it is, which is reported. With --json, `state` is the job's "
              "state before.\n\n"
              "Of a job with policy late-binding no further task starts, and running ones are ended in the "
              "same way; tasks of an executor are ended by SIGKILL, together with the executor.",
              "  tarcil job cancel 4711\n"
              "  tarcil job cancel 4711 4712\n"
              "  tarcil job cancel --state queued --name sort\n"
              "  tarcil job cancel --all\n",
              ""},
             [](CLI::App& command) {
               auto flags = std::make_shared<CancelFlags>();
               addJobChoice(command, flags->jobs);
               addOutputFlags(command, flags->output);
               addClusterFlags(command, flags->cluster);
               onRun(command, [flags]() { return cancel(*flags); });
             });
}

}  // namespace tarcil
