#include "master/logic/cron/cron_jobs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/units.h"
#include "master/logic/audit/audited.h"
#include "master/logic/jobs/acceptance.h"
#include "master/logic/jobs/task_life.h"
#include "master/logic/people/account_bounds.h"
#include "master/logic/secrets/secrets.h"

namespace tarcil::master {
namespace {

// Crons that are looked at per event, each of which may make a job.
constexpr size_t kCronsAtOnce = 100;

constexpr const char* kMissed = "missed: the master was not running then, or its clock was set forward";

std::string inWords(const Job& job) {
  return "job " + std::to_string(job.record.number);
}

void note(Cron& cron, CronRun run) {
  if (cron.runs.size() >= kMaxCronRuns) cron.runs.erase(cron.runs.begin());
  cron.runs.push_back(std::move(run));
}

void noteWithoutJob(Cron& cron, WallTime planned, std::string reason) {
  note(cron, {.planned = planned, .reason = std::move(reason)});
}

void setProblem(EventContext& context, Cron& cron, const std::string& problem) {
  if (cron.problem == problem) return;
  cron.problem = problem;
  context.out.put(cron);
}

// Why the cron's job cannot be made now.
Status mayMakeJob(const Tables& tables, const JobRecord& record) {
  std::string problem = tooLarge(tables.options, record);
  if (problem.empty()) problem = whyNotByAccount(tables, record);
  if (problem.empty()) problem = whyNotSecrets(tables, record);
  if (problem.empty()) problem = tooManyUsers(tables, record.user);
  if (problem.empty()) problem = tooMany(tables, record);
  if (problem.empty()) problem = tooManyOfAccount(tables, record);
  if (problem.empty()) problem = whyNoNewJobs(tables);
  if (problem.empty()) return {};
  return Error{ErrorCode::kExhausted, std::move(problem)};
}

// Null where there is none, or another's has the id by now.
Job* jobOf(EventContext& context, const Cron& cron, const JobId& id) {
  Job* job = context.tables.jobs.find(id);
  return job != nullptr && isJobOf(cron, job->record) ? job : nullptr;
}

// Of the job of the time that is pending; nothing where others' jobs have all that it may have. One that was
// made before counts, whichever of them it has.
std::optional<JobId> idForPending(EventContext& context, const Cron& cron) {
  std::optional<JobId> id;
  for (uint32_t choice = 0; choice < kMaxCronJobIds; ++choice) {
    const JobId next = jobIdOf(cron.spec.id, cron.pending, choice);
    if (jobOf(context, cron, next) != nullptr) return next;
    if (!id && context.tables.jobs.find(next) == nullptr) id = next;
  }
  return id;
}

// Makes the job, and notes it with its cron. `planned`: kNever where a user asked for it. Requires: no job
// but the cron's has the id.
Status makeJob(EventContext& context, LiveCron& live, const JobId& id, WallTime planned) {
  Tables& tables = context.tables;
  Cron& cron = live.cron;
  JobRecord record{.id = id,
                   .spec = cron.spec.job,
                   .user = cron.user,
                   .runAs = cron.runAs,
                   .submitted = context.now.wall,
                   .cron = cron.spec.name,
                   .planned = planned};
  const Job* job = jobOf(context, cron, id);  // there is one where the store has forgotten more than the jobs
  if (job == nullptr) {
    if (Status may = mayMakeJob(tables, record); !may) return may;
    Agent* owner = tables.agents.leastLoaded();
    if (owner == nullptr) return Error{ErrorCode::kUnavailable, "no agent is attached; try again later"};
    Job& made = acceptJob(context, std::move(record), *owner);
    tables.jobs.noteWhole(made);
    auditJobOf(context, cron, made.record);
    job = &made;
  }
  const bool isByHand = planned == kNever;
  const CronRun run{.planned = isByHand ? context.now.wall : planned,
                    .isByHand = isByHand,
                    .job = id,
                    .number = job->record.number,
                    .state = isFinal(job->progress.state) ? job->progress.state : RunState::kQueued};
  note(cron, run);
  cron.lastJob = run;
  cron.lastMade = context.now.wall;
  if (!isByHand) {
    cron.pending = kNever;
    cron.problem.clear();
  }
  context.out.put(cron);
  return {};
}

// A planned time has come, the latest of those that were not taken up.
void takeUp(EventContext& context, LiveCron& live, WallTime planned) {
  Cron& cron = live.cron;
  cron.takenUp = planned;
  const bool oneWaits = cron.pending != kNever;
  const Job* unfinished = oneWaits ? unfinishedJobOf(context, cron) : nullptr;
  if (unfinished != nullptr && cron.spec.ifRunning == IfRunning::kWait) {
    noteWithoutJob(cron, planned, "an earlier time still waited for the end of " + inWords(*unfinished));
  } else {
    if (oneWaits) {
      noteWithoutJob(cron, cron.pending,
                     cron.problem + (cron.problem.empty() ? "" : "; ") + "the next time came");
    }
    cron.pending = planned;
    cron.problem.clear();
  }
  context.out.put(cron);
}

void takeUpLatest(EventContext& context, LiveCron& live) {
  Cron& cron = live.cron;
  const WallTime now = context.now.wall;
  const auto first = live.nextTime();
  if (!first || *first > now) return;
  const WallTime after = std::max(cron.takenUp, now - cron.spec.deadline);
  const auto latest = latestTime(live.schedule, *live.zone, after, now);
  if (!latest || *first < *latest) {
    const WallTime before = latest ? *latest : now + Duration(1);
    note(cron, {.planned = *first, .before = before, .reason = kMissed});
    cron.takenUp = before - Duration(1);
    context.out.put(cron);
  }
  if (latest) takeUp(context, live, *latest);
}

// Until when the job of the time that is pending may be made: what waited for the last job has as long behind
// that.
WallTime lastChance(EventContext& context, const Cron& cron) {
  WallTime since = cron.pending;
  const Job* last = cron.lastJob ? jobOf(context, cron, cron.lastJob->job) : nullptr;
  if (last != nullptr) since = std::max(since, last->progress.finished);
  return since + cron.spec.deadline;
}

// Whether the job of the time that is pending has to do without the last one, which has not ended: it waits
// for that, or is given up.
bool isHeldUp(EventContext& context, LiveCron& live) {
  Cron& cron = live.cron;
  Job* unfinished = unfinishedJobOf(context, cron);
  switch (cron.spec.ifRunning) {
    case IfRunning::kStart:
      return false;
    case IfRunning::kSkip:
      if (unfinished != nullptr) giveUpPending(context, live, inWords(*unfinished) + " had not ended");
      return unfinished != nullptr;
    case IfRunning::kReplace:
      if (unfinished != nullptr && !unfinished->progress.cancelRequested)
        cancelJob(context, *unfinished, "replaced by the next job of cron " + cron.spec.name);
      break;
    case IfRunning::kWait:
      break;
  }
  if (unfinished != nullptr) setProblem(context, cron, "waits for the end of " + inWords(*unfinished));
  return unfinished != nullptr;
}

void tryPending(EventContext& context, LiveCron& live) {
  Cron& cron = live.cron;
  if (isHeldUp(context, live)) return;
  if (context.now.wall > lastChance(context, cron))
    return giveUpPending(context, live, cron.problem.empty() ? kMissed : cron.problem);
  const auto id = idForPending(context, cron);
  if (!id) return giveUpPending(context, live, "other jobs have the ids that its job could have");
  const Status made = makeJob(context, live, *id, cron.pending);
  if (made) return;
  setProblem(context, cron, made.error().message);
  context.tables.crons.retryAt(live, context.now.steady + kCronRetryInterval);
}

void lookAt(EventContext& context, LiveCron& live) {
  if (live.isRunning()) {
    takeUpLatest(context, live);
    if (live.cron.pending != kNever) tryPending(context, live);
  }
  context.tables.crons.awaitNext(live);
}

bool setState(CronRun& run, const JobId& job, RunState state) {
  if (run.number == 0 || run.job != job) return false;
  run.state = state;
  return true;
}

}  // namespace

void resumeCrons(EventContext& context) {
  CronTable& crons = context.tables.crons;
  for (const auto& [name, live] : crons.all()) {
    crons.awaitNext(live);
    if (live.cron.pending != kNever) crons.retryAt(live, context.now.steady);
  }
}

void takeUpDueTimes(EventContext& context) {
  for (size_t count = 0; count < kCronsAtOnce; ++count) {
    LiveCron* live = context.tables.crons.takeDue(context.now);
    if (live == nullptr) return;
    lookAt(context, *live);
  }
}

void noteEndOfCronJob(EventContext& context, const Job& job, RunState state) {
  if (job.record.cron.empty()) return;
  LiveCron* live = context.tables.crons.find(job.record.user, job.record.cron);
  if (live == nullptr) return;
  Cron& cron = live->cron;
  bool isOfIt = cron.lastJob && setState(*cron.lastJob, job.record.id, state);
  for (CronRun& run : cron.runs) isOfIt = setState(run, job.record.id, state) || isOfIt;
  if (!isOfIt) return;
  context.out.put(cron);
  if (cron.pending != kNever) context.tables.crons.lookAgain(*live);
}

void goOnWithCrons(EventContext& context) {
  for (size_t count = 0; count < kCronsAtOnce; ++count) {
    LiveCron* live = context.tables.crons.takeAgain();
    if (live == nullptr) return;
    lookAt(context, *live);
  }
}

Job* unfinishedJobOf(EventContext& context, const Cron& cron) {
  const auto unfinished = [&context, &cron](const CronRun& run) -> Job* {
    Job* job = run.number == 0 ? nullptr : jobOf(context, cron, run.job);
    return job == nullptr || isFinal(job->progress.state) ? nullptr : job;
  };
  if (Job* last = cron.lastJob ? unfinished(*cron.lastJob) : nullptr) return last;
  // One that was run again.
  for (auto run = cron.runs.rbegin(); run != cron.runs.rend(); ++run) {
    if (Job* job = unfinished(*run)) return job;
  }
  return nullptr;
}

Status makeJobByHand(EventContext& context, LiveCron& live, const JobId& id) {
  return makeJob(context, live, id, kNever);
}

void giveUpPending(EventContext& context, LiveCron& live, const std::string& reason) {
  Cron& cron = live.cron;
  noteWithoutJob(cron, std::exchange(cron.pending, kNever), reason);
  cron.problem.clear();
  context.out.put(cron);
}

}  // namespace tarcil::master
