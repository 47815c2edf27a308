#include "master/logic/cron/cron_steering.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/model/cron_schedule.h"
#include "core/state/run_as.h"
#include "master/logic/cron/cron_jobs.h"
#include "master/logic/jobs/acceptance.h"
#include "master/logic/people/account_bounds.h"
#include "master/logic/secrets/secrets.h"

namespace tarcil::master {
namespace {

Error conflict(std::string why) {
  return {ErrorCode::kConflict, std::move(why)};
}

Status requireRoomFor(const Tables& tables, const std::string& user) {
  const auto refused = [](const std::string& most) {
    return Error{ErrorCode::kExhausted, most + "; remove some with `tarcil cron remove`"};
  };
  if (tables.crons.size() >= kMaxCrons)
    return refused("the cluster has " + std::to_string(kMaxCrons) + " crons, as many as it takes");
  if (tables.crons.sizeOf(user) >= kMaxCronsOfUser)
    return refused(user + " has " + std::to_string(kMaxCronsOfUser) + " crons, as many as one user may");
  return {};
}

// Some schedules have only times that the clocks of their zone skip. Requires: checkCron().
Status requireSomeTime(const Tables& tables, const CronSpec& spec, WallTime now) {
  const auto schedule = parseCronSchedule(spec.schedule);
  const auto zone = tables.crons.zones().named(spec.zone);
  if (nextTime(*schedule, **zone, now)) return {};
  return invalid("schedule: " + shown(spec.schedule) + " never comes by the clock of " + spec.zone +
                 ", not within 40 years; write times that this clock shows, or another zone");
}

void hold(EventContext& context, LiveCron& live, const Caller& caller) {
  if (live.cron.isHeld) return;
  live.cron.isHeld = true;
  if (live.cron.pending != kNever) {
    giveUpPending(context, live, "the cron was held by " + caller.user);
  } else {
    context.out.put(live.cron);
  }
  context.tables.crons.awaitNext(live);
}

void release(EventContext& context, LiveCron& live) {
  if (!live.cron.isHeld) return;
  live.cron.isHeld = false;
  live.cron.takenUp = std::max(live.cron.takenUp, context.now.wall);
  context.out.put(live.cron);
  context.tables.crons.awaitNext(live);
}

// By one with another schedule or job: what became of its times stays, and so do its jobs.
void replace(EventContext& context, LiveCron& live, const CronSpec& spec, const std::string& runAs) {
  CronTable& crons = context.tables.crons;
  if (live.cron.pending != kNever) giveUpPending(context, live, "the cron was replaced");
  Cron cron = live.cron;
  cron.spec = spec;
  cron.spec.id = live.cron.spec.id;
  cron.runAs = runAs;
  cron.takenUp = std::max(cron.takenUp, context.now.wall);
  crons.erase(live);
  const LiveCron& replaced = crons.add(std::move(cron));
  context.out.put(replaced.cron);
  crons.awaitNext(replaced);
}

Status run(EventContext& context, LiveCron& live, const JobId& id) {
  const Cron& cron = live.cron;
  if (const Job* job = context.tables.jobs.find(id)) {
    if (isJobOf(cron, job->record)) return {};
    return invalid("job: this job id is taken; make a new one");
  }
  const std::string name = "cron " + cron.spec.name;
  if (cron.isHeld) return conflict(name + " is held; release it first (tarcil cron release)");
  const Job* unfinished = unfinishedJobOf(context, cron);
  if (unfinished != nullptr && cron.spec.ifRunning != IfRunning::kStart) {
    return conflict(name + ": its job " + std::to_string(unfinished->record.number) +
                    " has not ended; wait for that, or cancel it");
  }
  const WallTime now = context.now.wall;
  if (cron.lastMade <= now && now < cron.lastMade + kMinBetweenCronJobs)
    return conflict(name + " made a job less than a minute ago; try again in a minute");
  return makeJobByHand(context, live, id);
}

}  // namespace

Status addCron(EventContext& context, const CronAdded& event) {
  Tables& tables = context.tables;
  const CronSpec& spec = event.cron;
  const std::string& user = event.caller.user;
  LiveCron* there = tables.crons.find(user, spec.name);
  if (there != nullptr && there->cron.spec.id == spec.id) return {};
  if (there != nullptr && !event.replaces) {
    return invalid("name: " + user + " has a cron " + shown(spec.name) +
                   " already; write another name, or replace that one (tarcil cron add --replace)");
  }
  if (tables.crons.find(spec.id) != nullptr) return invalid("id: another cron has this id; make a new one");
  if (Status good = checkCron(spec, tables.crons.zones()); !good) return good;
  const Result<std::string> runAs = runAsFor(spec.job, event.caller);
  if (!runAs) return runAs.error();
  const JobRecord record{.id = {}, .spec = spec.job, .user = user, .runAs = *runAs};
  for (std::string problem :
       {tooLarge(tables.options, record), whyNotByAccount(tables, record), whyNotSecrets(tables, record)}) {
    if (!problem.empty()) return invalid(std::move(problem));
  }
  if (Status comes = requireSomeTime(tables, spec, context.now.wall); !comes) return comes;
  if (there != nullptr) {
    replace(context, *there, spec, *runAs);
    return {};
  }
  if (Status fits = requireRoomFor(tables, user); !fits) return fits;
  const LiveCron& live = tables.crons.add(
      {.spec = spec, .user = user, .runAs = *runAs, .added = context.now.wall, .takenUp = context.now.wall});
  context.out.put(live.cron);
  tables.crons.awaitNext(live);
  return {};
}

Status steerCron(EventContext& context, const CronSteered& event) {
  const std::string& user = event.user.empty() ? event.caller.user : event.user;
  LiveCron* live = context.tables.crons.find(user, event.name);
  // Somebody else's looks as if it were not there.
  if (live == nullptr || !maySteer(event.caller, user)) {
    return notFound(user + " has no cron " + shown(event.name) +
                    "; `tarcil cron list` shows those that there are");
  }
  switch (event.change) {
    case CronChange::kHold:
      hold(context, *live, event.caller);
      return {};
    case CronChange::kRelease:
      release(context, *live);
      return {};
    case CronChange::kRun:
      return run(context, *live, event.job);
    case CronChange::kRemove:
      context.out.erase(EraseCron{user, event.name});
      context.tables.crons.erase(*live);
      return {};
  }
  return {};
}

}  // namespace tarcil::master
