#include "schema/convert_cron.h"

#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {

using namespace convert;

namespace {

void writeRun(const CronRun& value, wire::CronRun::Builder to) {
  to.setPlanned(toWire(value.planned));
  to.setBefore(toWire(value.before));
  to.setByHand(value.isByHand);
  to.setJob(bytesOf(value.job));
  to.setNumber(value.number);
  to.setState(toWire(value.state));
  to.setReason(text(value.reason));
}

CronRun readRun(wire::CronRun::Reader from) {
  return {wallTime(from.getPlanned()), wallTime(from.getBefore()), from.getByHand(),
          readJobId(from.getJob()),    from.getNumber(),           fromWire(from.getState()),
          text(from.getReason())};
}

}  // namespace

void write(const CronSpec& value, wire::CronSpec::Builder to) {
  to.setId(bytesOf(value.id));
  to.setName(text(value.name));
  to.setSchedule(text(value.schedule));
  to.setZone(text(value.zone));
  to.setIfRunning(toWireEnum<wire::IfRunning>(value.ifRunning));
  to.setDeadline(static_cast<uint64_t>(value.deadline.count()));
  write(value.job, to.initJob());
}

CronSpec read(wire::CronSpec::Reader from) {
  return {readJobId(from.getId()),
          text(from.getName()),
          text(from.getSchedule()),
          text(from.getZone()),
          fromWireEnum<IfRunning>(from.getIfRunning(), 4, "IfRunning"),
          readDuration(from.getDeadline(), "deadline"),
          read(from.getJob())};
}

void write(const Cron& value, wire::Cron::Builder to) {
  write(value.spec, to.initSpec());
  to.setUser(text(value.user));
  to.setRunAs(text(value.runAs));
  to.setAdded(toWire(value.added));
  to.setHeld(value.isHeld);
  to.setTakenUp(toWire(value.takenUp));
  to.setPending(toWire(value.pending));
  to.setProblem(text(value.problem));
  if (value.lastJob) writeRun(*value.lastJob, to.initLastJob());
  to.setLastMade(toWire(value.lastMade));
  auto runs = to.initRuns(static_cast<uint32_t>(value.runs.size()));
  for (uint32_t i = 0; i < runs.size(); ++i) writeRun(value.runs[i], runs[i]);
}

Cron read(wire::Cron::Reader from) {
  Cron value{.spec = read(from.getSpec()),
             .user = text(from.getUser()),
             .runAs = text(from.getRunAs()),
             .added = wallTime(from.getAdded()),
             .isHeld = from.getHeld(),
             .takenUp = wallTime(from.getTakenUp()),
             .pending = wallTime(from.getPending()),
             .problem = text(from.getProblem()),
             .lastMade = wallTime(from.getLastMade())};
  if (from.hasLastJob()) value.lastJob = readRun(from.getLastJob());
  for (auto run : elements(from.getRuns())) value.runs.push_back(readRun(run));
  return value;
}

}  // namespace tarcil
