// tarcil job hold, release, rerun, priority: what users do to jobs that they have submitted.
#include <algorithm>

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

struct SteerJobFlags {
  ContextFlags cluster;
  OutputFlags output;
  JobChoiceFlags jobs;
  int priority = 0;
};

std::span<const RunState> statesFor(wire::JobChange change) {
  if (change == wire::JobChange::RERUN) return kEndedBadly;
  return kUnfinished;
}

int steerChosen(const SteerJobFlags& flags, wire::JobChange change, const std::string& word) {
  Cluster cluster(flags.cluster);
  std::vector<FoundJob> jobs = chosenJobs(cluster, flags.jobs, statesFor(change));
  // Those that others start after come before them.
  if (change == wire::JobChange::RERUN) std::ranges::stable_sort(jobs, {}, &FoundJob::number);
  const Style style = styleFor(flags.output.verbose);
  Json list = Json::array();
  std::string text;
  bool isRefused = false;
  for (const FoundJob& job : jobs) {
    Steered done = steer(cluster, job, change, flags.priority, !flags.jobs.jobs.empty(), style);
    if (done.refusal && jobs.size() == 1) throw Failure(kExitFailed, *done.refusal);
    isRefused = isRefused || done.refusal;
    list.push_back(std::move(done.entry));
    const std::string shown = style.job(job.number, job.id);
    if (done.refusal) {
      text += aligned({{"Refused", shown + ": " + *done.refusal}});
    } else if (done.over) {
      text += aligned({{"Was over", shown + " (" + std::string(name(*done.over)) + ")"}});
    } else if (done.left) {
      text += aligned({{"Left", shown + ": " + *done.left}});
    } else {
      text += aligned({{word, shown}});
    }
  }
  if (flags.output.json) {
    printJson(list);
  } else {
    print(text);
  }
  return isRefused ? kExitFailed : kExitDone;
}

void addSteering(CLI::App& job, const char* name, const Help& help, wire::JobChange change,
                 const char* done) {
  addCommand(job, name, help, [change, done](CLI::App& command) {
    auto flags = std::make_shared<SteerJobFlags>();
    if (change == wire::JobChange::PRIORITY) {
      command.add_option("PRIORITY", flags->priority, "0 to 100, higher first.")
          ->required()
          ->check(wholeNumber(0, kMaxPriority));
    }
    addJobChoice(command, flags->jobs);
    addOutputFlags(command, flags->output);
    addClusterFlags(command, flags->cluster);
    onRun(command, [flags, change, done]() { return steerChosen(*flags, change, done); });
  });
}

}  // namespace

void addJobSteering(CLI::App& job) {
  addSteering(
      job, "hold",
      {"job hold [OPTIONS] [JOB...]", "Let no further task of a job start.",
       "Running tasks continue; waiting ones do not start until `tarcil job release`. The hold survives "
       "restarts of the master. A job that is over stays as it is. `hold: true` in a job file does it from "
       "the start.",
       "  tarcil job hold 4711\n  tarcil job release 4711\n  tarcil job hold --all\n", ""},
      wire::JobChange::HOLD, "Held");
  addSteering(
      job, "release",
      {"job release [OPTIONS] [JOB...]", "Let the tasks of a held job start again.",
       "They are tried at once, at their job's position in the queue. A job that is named starts also where "
       "it "
       "was to start after others or at a time; of those that are chosen by --all, --state and the like only "
       "what a user holds is released.",
       "  tarcil job release 4711\n  tarcil job release --all\n", ""},
      wire::JobChange::RELEASE, "Released");
  addSteering(job, "rerun",
              {"job rerun [OPTIONS] [JOB...]", "Run the tasks of a job again that did not end well.",
               "The job, which has failed, was cancelled or lost, goes back into the queue under its number; "
               "tasks that "
               "are done stay so, the others start anew with all their attempts. Jobs that wait for it go on "
               "waiting for it. Its input files are kept for that for as long as there is room "
               "(`--keep-files-size` of "
               "the master).",
               "  tarcil job rerun 4711\n  tarcil job rerun --state failed --since 1h\n", ""},
              wire::JobChange::RERUN, "Runs again");
  addSteering(job, "priority",
              {"job priority [OPTIONS] PRIORITY [JOB...]", "Give jobs another priority.",
               "Takes effect at once, in the order of the queue and for preemption. Running tasks continue.",
               "  tarcil job priority 90 4711\n  tarcil job priority 10 4711 4712\n", ""},
              wire::JobChange::PRIORITY, "Changed");
}

}  // namespace tarcil
