#include "cli/job_choice.h"

#include "cli/output/output.h"
#include "cli/user_clock.h"
#include "core/base/failure.h"
#include "core/base/text.h"

namespace tarcil {
namespace {

void check(const JobChoiceFlags& flags) {
  const bool byFilter = flags.all || !flags.filter.empty();
  if (!flags.jobs.empty() && byFilter) {
    throw badInput(
        "JOB: jobs are named, and chosen by --state, --user, --name, --since or --all too; write one of "
        "both");
  }
  if (flags.jobs.empty() && !byFilter) {
    throw badInput(
        "JOB: is missing; write the jobs' numbers, or choose them by --state, --user, --name, --since or "
        "--all");
  }
}

// What is done to jobs is done to all of their tasks.
std::vector<FoundJob> wholeJobs(Cluster& cluster, const std::vector<std::string>& texts) {
  std::vector<FoundJob> jobs = cluster.jobs(texts);
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (!jobs[i].task) continue;
    throw badInput("JOB: " + shown(texts[i]) +
                   " is one task of a job, and this is done to whole jobs; write " +
                   std::to_string(jobs[i].number) + " for the job");
  }
  return jobs;
}

}  // namespace

void addJobChoice(CLI::App& command, JobChoiceFlags& flags) {
  addJobNames(command, flags.jobs)->required(false);
  addJobFilterFlags(command, flags.filter);
  command.add_flag("--all", flags.all, "All of yours; as an operator, everybody's.");
}

std::vector<FoundJob> chosenJobs(Cluster& cluster, const JobChoiceFlags& flags,
                                 std::span<const RunState> states) {
  check(flags);
  if (!flags.jobs.empty()) return wholeJobs(cluster, flags.jobs);
  JobFilter filter = jobFilterOf(flags.filter, userClock());
  if (filter.states.empty()) filter.states.assign(states.begin(), states.end());
  std::vector<FoundJob> jobs;
  JobListing listing(cluster, filter, SIZE_MAX, std::nullopt);
  while (const auto entry = listing.next())
    jobs.push_back({readJobId(entry->job.getId()), entry->job.getNumber()});
  if (jobs.empty()) say("there are no such jobs");
  return jobs;
}

}  // namespace tarcil
