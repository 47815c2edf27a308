// tarcil submit: hands a job file to the cluster.
#include "cli/after.h"
#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/late_job.h"
#include "cli/output/job_status.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "cli/submission.h"
#include "cli/unmeasured.h"
#include "cli/waiting_progress.h"
#include "core/base/failure.h"

namespace tarcil {
namespace {

constexpr kj::Duration kWatchPeriod = 500 * kj::MILLISECONDS;

struct SubmitFlags {
  ContextFlags cluster;
  OutputFlags output;
  SubmissionFlags job;
  bool wait = false;
  bool watch = false;
  bool dryRun = false;
};

// Says on stderr how many tasks are in which state, whenever that changes. Never done: to be dropped.
kj::Promise<void> watch(Client& client, kj::Timer& timer, const JobId& id, std::string last) {
  return fetchCounts(client, id).then([&client, &timer, id, last](JobCounts&& job) {
    std::string now = textOfCounts(job.inState);
    if (job.progress.state == RunState::kQueued && !job.progress.reason.empty())
      now += ": " + job.progress.reason;
    if (now != last) say(now);
    return timer.afterDelay(kWatchPeriod).then([&client, &timer, id, now]() {
      return watch(client, timer, id, now);
    });
  });
}

// Until it has ended. With --watch what was said of the progress stays.
void waitFor(Cluster& cluster, const FoundJob& job, bool isWatched) {
  auto over = waitForJob(cluster.client(), job.id).ignoreResult();
  WaitingProgress progress(cluster, {job});
  over = isWatched ? over.exclusiveJoin(watch(cluster.client(), cluster.timer(), job.id, ""))
                   : progress.during(kj::mv(over));
  cluster.wait(kj::mv(over));
}

int report(const JobStatus& job, const SubmitFlags& flags) {
  if (flags.output.json) {
    printJson(jsonOf(job));
  } else {
    print(textOf(job, styleFor(flags.output.verbose)));
  }
  return job.progress.state == RunState::kDone ? kExitDone : kExitFailed;
}

// The agents alone know of it.
int submitLate(Cluster& cluster, const JobId& id, JobFile job, const SubmitFlags& flags) {
  if (job.spec.profile.isAssumed) submitMeasuring(cluster, job.spec, job.files);
  if (!flags.wait && !flags.watch) {
    leaveLateJob(cluster, id, std::move(job));
    printAccepted(flags.output, cluster.numberOf(id), id);
    return kExitDone;
  }
  say("job " + toString(id) + " is accepted");
  const LateJobStatus status = runLateJob(cluster, id, std::move(job));
  if (flags.output.json) {
    printJson(jsonOf(status));
  } else {
    print(textOf(status, styleFor(flags.output.verbose)));
  }
  return stateOf(status) == RunState::kDone ? kExitDone : kExitFailed;
}

int submit(const SubmitFlags& flags) {
  if (flags.dryRun) return showPlan(flags.cluster, flags.output, flags.job);
  JobFile job = readSubmission(flags.job);
  Cluster cluster(flags.cluster);
  addStoredProfile(cluster, flags.job.file, job);
  findAfter(cluster, flags.job.file, job);
  const JobId id = makeJobId();
  if (job.spec.policy == Policy::kLateBinding) return submitLate(cluster, id, std::move(job), flags);
  cluster.wait(submitJob(cluster.client(), id, job.spec, job.files));
  if (job.spec.profile.isAssumed) submitMeasuring(cluster, job.spec, job.files);
  const JobNumber number = cluster.numberOf(id);
  if (!flags.wait && !flags.watch) {
    printAccepted(flags.output, number, id);
    return kExitDone;
  }
  say("job " + styleFor(flags.output.verbose).job(number, id) +
      " is accepted; it goes on where this command is ended");
  waitFor(cluster, {id, number}, flags.watch);
  return report(cluster.wait(fetchJob(cluster.client(), id)), flags);
}

const Help kSubmitHelp = {
    "submit [OPTIONS] FILE", "Hand a job file to the cluster.",
    "Reads the job file, its profile and its input files, checks them, and sends them to the cluster. "
    "Returns when the job is on disk there: from then on it survives crashes and does not need this "
    "command. The fields of the file are in docs/job-file.md: among others `extras` asks for countable "
    "things such as GPUs; `placement` says where tasks may go (constraints, spread, pack, prefer), and "
    "`policy` how slots are chosen: quality, or for comparison greedy (examines all slots), random, "
    "per-task (the less loaded of two) and batch (the least loaded of two a task).\n\n"
    "With policy late-binding, for tasks of milliseconds, the tasks are bound to servers as these come "
    "free; agents keep such a job in memory only. Without --wait one agent owns the job and forgets it when "
    "it is killed; with --wait this command keeps it, and fails over to the next agent.\n\n"
    "A job file with `parameters` is a template: --set gives them values, for {{NAME}} in the file.\n\n"
    "A job that does not fit now waits; one that could never fit is refused. `tarcil plan` shows beforehand "
    "what would become of it.",
    "  tarcil submit train.yaml\n"
    "  tarcil submit --dry-run train.yaml           # where its tasks would go\n"
    "  tarcil submit --set epochs=20 train.yaml     # the file has {{epochs}}\n"
    "  generate | tarcil submit --name night-7 -    # a job file on stdin\n"
    "  tarcil submit --wait train.yaml              # 1 if the job fails\n"
    "  tarcil submit --json --profile p.yaml train.yaml\n",
    "  0  accepted; with --wait: the job is done\n"
    "  1  refused; with --wait: the job failed, was cancelled or lost\n"
    "  2  bad arguments or files; nothing was sent\n"
    "  3  no cluster in reach, or not allowed\n"};

}  // namespace

void addSubmit(CLI::App& app) {
  addCommand(app, "submit", kSubmitHelp, [](CLI::App& command) {
    auto flags = std::make_shared<SubmitFlags>();
    addSubmissionFlags(command, flags->job);
    command.add_flag("--dry-run", flags->dryRun,
                     "Submit nothing; show what would become of the job now, as `tarcil plan` does.");
    command.add_flag(
        "--wait", flags->wait,
        "Wait for the job's end and show its outcome; a line on the terminal says how far it is.");
    command.add_flag("--watch", flags->watch, "As --wait, and report each step of the progress on stderr.");
    addOutputFlags(command, flags->output);
    addClusterFlags(command, flags->cluster);
    onRun(command, [flags]() { return submit(*flags); });
  });
}

}  // namespace tarcil
