#include "master/server/query_codec.h"

#include "schema/convert.h"
#include "schema/convert_cron.h"
#include "schema/convert_performance.h"
#include "schema/convert_pressure.h"
#include "schema/convert_support.h"

namespace tarcil {

using convert::text;

void write(const JobDetails& value, wire::JobDetails::Builder to) {
  write(value.record, to.initJob());
  write(value.progress, to.initProgress());
  if (value.progress.reason.empty()) to.getProgress().setReason(value.outOfReach);
  auto tasks = to.initTasks(static_cast<uint32_t>(value.tasks.size()));
  for (uint32_t i = 0; i < value.tasks.size(); ++i) write(value.tasks[i], tasks[i]);
  to.setNextTask(value.nextTask);
  convert::writeNumbers<uint32_t>(value.inState, to.initInState(static_cast<uint32_t>(value.inState.size())));
  to.setAhead(value.ahead);
  write(value.violations, to.initViolations(static_cast<uint32_t>(value.violations.size())));
  write(value.steps, to.initSteps(static_cast<uint32_t>(value.steps.size())));
  auto charges = to.initCharges(static_cast<uint32_t>(value.charges.size()));
  for (uint32_t i = 0; i < value.charges.size(); ++i) write(value.charges[i], charges[i]);
}

void write(const JobSummary& value, wire::JobSummary::Builder to) {
  to.setId(bytesOf(value.id));
  to.setName(text(value.name));
  to.setUser(text(value.user));
  to.setReason(text(value.reason));
  to.setState(toWire(value.state));
  to.setTasks(value.tasks);
  to.setQueued(value.queued);
  to.setActive(value.active);
  to.setSucceeded(value.succeeded);
  to.setFailed(value.failed);
  to.setSubmitted(toWire(value.submitted));
  to.setFinished(toWire(value.finished));
  to.setNumber(value.number);
}

void write(const WaitingJob& value, WallTime expectedStart, wire::WaitingJob::Builder to) {
  write(value.summary, to.initJob());
  to.setPriority(value.spec.priority);
  to.setAhead(value.ahead);
  to.setRusPerTask(value.spec.rusPerTask);
  to.setGang(value.spec.schedule == Schedule::kGang);
  to.setLiftedPriority(value.liftedPriority);
  to.setExpectedStart(toWire(expectedStart));
}

void write(const Forecast::NamedBucket& value, wire::Bucket::Builder to) {
  to.setNumber(value.summary.bucket);
  to.setPlatform(text(value.platform));
  to.setServers(value.summary.servers);
  to.setFree(value.summary.free);
  to.setMean(bytesOf(value.summary.mean));
  to.setEnteredPerHour(value.summary.enteredPerHour);
}

namespace {

void writeTask(const ServerView::Task& value, wire::ServerDetails::Task::Builder to) {
  to.setJob(bytesOf(value.job));
  to.setJobNumber(value.jobNumber);
  to.setIndex(value.index);
  to.setAllocation(value.allocation);
  convert::writeNumbers<uint16_t>(value.rus, to.initRus(static_cast<uint32_t>(value.rus.size())));
  write(value.extras, to.initExtras(static_cast<uint32_t>(value.extras.size())));
  to.setCaused(bytesOf(value.profile.caused));
  to.setTolerated(bytesOf(value.profile.tolerated));
  to.setCharged(bytesOf(value.charged));
  write(value.measured, to.initMeasured(static_cast<uint32_t>(value.measured.count())));
  auto over = to.initOver(static_cast<uint32_t>(value.over.size()));
  for (uint32_t i = 0; i < value.over.size(); ++i) over.set(i, static_cast<uint8_t>(value.over[i]));
  to.setThrottledCpu(value.throttle.cpu);
  to.setThrottledDisk(value.throttle.disk);
  to.setThrottledNetwork(value.throttle.network);
  to.setThrottledCacheWays(value.throttle.cacheWays);
  to.setThrottledMemoryBandwidth(value.throttle.memoryBandwidth);
  if (value.performance) write(*value.performance, to.initPerformance());
}

}  // namespace

void write(const ServerView& value, wire::ServerDetails::Builder to) {
  to.setId(value.id);
  write(value.facts, to.initFacts());
  write(value.status, to.initStatus());
  to.setContention(bytesOf(value.contention));
  to.setReason(text(value.reason));
  to.setDraining(value.draining);
  to.setDrainAt(toWire(value.drainAt));
  to.setAsideUntil(toWire(value.asideUntil));
  to.setRefusedClaims(value.refusedClaims);
  to.setNeverStarted(value.neverStarted);
  write(value.absent, to.initAbsent(static_cast<uint32_t>(value.absent.size())));
  write(value.violations, to.initViolations(static_cast<uint32_t>(value.violations.size())));
  to.setAutoCordoned(value.autoCordoned);
  const auto pool = value.pool.first(value.pool.size());
  convert::writeNumbers<uint16_t>(pool, to.initPool(static_cast<uint32_t>(pool.size())));
  if (value.poolCaused != PressureSum{})
    convert::writeNumbers<int32_t>(value.poolCaused, to.initPoolCaused(kResources));
  auto tasks = to.initTasks(static_cast<uint32_t>(value.tasks.size()));
  for (uint32_t i = 0; i < value.tasks.size(); ++i) writeTask(value.tasks[i], tasks[i]);
}

void write(const JobPosition& value, wire::JobPosition::Builder to) {
  to.setSubmitted(toWire(value.submitted));
  to.setId(bytesOf(value.id));
}

JobPosition read(wire::JobPosition::Reader from) {
  return {wallTime(from.getSubmitted()), readJobId(from.getId())};
}

JobQuery readQuery(uint32_t limit, wire::JobFilter::Reader from) {
  JobQuery query;
  query.limit = limit;
  query.user = text(from.getUser());
  query.name = text(from.getName());
  for (wire::RunState state : from.getStates()) query.states.insert(fromWire(state));
  query.since = wallTime(from.getSince());
  return query;
}

void write(const CronView& value, wire::CronDetails::Builder to) {
  write(value.cron, to.initCron());
  auto next = to.initNext(static_cast<uint32_t>(value.next.size()));
  for (uint32_t i = 0; i < next.size(); ++i) next.set(i, toWire(value.next[i]));
  to.setProblem(text(value.problem));
}

void write(const AgentView& value, wire::AgentDetails::Builder to) {
  to.setName(text(value.name));
  to.setAddress(text(value.address));
  to.setEpoch(value.epoch);
  to.setAttached(value.attached);
  to.setJobs(value.jobs);
}

}  // namespace tarcil
