#include "core/model/job_size.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {

using namespace convert;

namespace {

void writeJudging(const Judging& value, wire::Judging::Builder to) {
  to.setModel(toWireEnum<wire::QualityModel>(value.model));
  to.setContention(toWireEnum<wire::ContentionModel>(value.contention));
  to.setMargin(value.margin);
  to.setNoiseFloor(value.noiseFloor);
  to.setProtectNeighbours(value.protectNeighbours);
  to.setNeighbourFloor(value.neighbourFloor);
}

Judging readJudging(wire::Judging::Reader from) {
  KJ_REQUIRE(from.getMargin() >= 0 && from.getMargin() <= kMaxPressure, "margin out of range",
             from.getMargin());
  KJ_REQUIRE(from.getNeighbourFloor() >= kMinNeighbourFloor && from.getNeighbourFloor() <= 1,
             "neighbourFloor out of range", from.getNeighbourFloor());
  return {fromWireEnum<QualityModel>(from.getModel(), 2, "QualityModel"),
          fromWireEnum<ContentionModel>(from.getContention(), 3, "ContentionModel"),
          from.getMargin(),
          from.getNoiseFloor(),
          from.getProtectNeighbours(),
          from.getNeighbourFloor()};
}

void writeClaim(const Claim& value, wire::Claim::Builder to) {
  to.setTask(value.task);
  to.setAttempt(value.attempt);
  to.setServer(value.server);
  to.setRus(value.rus);
  writeNumbers<uint16_t>(value.preferred, to.initPreferred(static_cast<uint32_t>(value.preferred.size())));
  to.setVersionSeen(value.versionSeen);
  to.setFloor(value.floor);
  to.setQ(value.q);
  to.setS(value.s);
}

Claim readClaim(wire::Claim::Reader from) {
  KJ_REQUIRE(from.getRus() >= 1 && from.getRus() <= kMaxRusPerTask, "units of a claim out of range",
             from.getRus());
  return {from.getTask(),
          from.getAttempt(),
          from.getServer(),
          from.getRus(),
          readNumbers<uint16_t>(from.getPreferred()),
          from.getVersionSeen(),
          from.getFloor(),
          from.getQ(),
          from.getS()};
}

}  // namespace

void write(const Commit& value, wire::Commit::Builder to) {
  to.setSequence(value.sequence);
  to.setAnswered(value.answered);
  to.setJob(bytesOf(value.job));
  if (value.newJob) {
    write(value.newJob->record, to.initNewJob());
    if (value.newJob->files) {
      write(*value.newJob->files, to.initFiles(static_cast<uint32_t>(value.newJob->files->size())));
    }
  }
  writeJudging(value.judging, to.initJudging());
  to.setGang(value.gang);
  to.setCapacityVersion(value.capacityVersion);
  auto claims = to.initClaims(static_cast<uint32_t>(value.claims.size()));
  for (uint32_t i = 0; i < value.claims.size(); ++i) writeClaim(value.claims[i], claims[i]);
  to.setWaitReason(text(value.waitReason));
  write(value.explanation, to.initExplanation());
}

Commit read(wire::Commit::Reader from) {
  Commit value;
  value.sequence = from.getSequence();
  value.answered = from.getAnswered();
  value.job = readJobId(from.getJob());
  if (from.hasNewJob()) {
    NewJob newJob{read(from.getNewJob()), nullptr};
    if (newJob.record.hasFiles && !newJob.sentFilesAhead()) {
      newJob.files = std::make_shared<const std::vector<InputFile>>(read(from.getFiles()));
    }
    // Whatever the message says; what went ahead the master has counted itself.
    if (!newJob.sentFilesAhead()) newJob.record.fileBytes = newJob.files ? sizeOf(*newJob.files) : 0;
    value.newJob = std::move(newJob);
  }
  value.judging = readJudging(from.getJudging());
  value.gang = from.getGang();
  for (auto claim : elements(from.getClaims())) value.claims.push_back(readClaim(claim));
  value.capacityVersion = from.getCapacityVersion();
  value.waitReason = text(from.getWaitReason());
  value.explanation = read(from.getExplanation());
  return value;
}

void write(const CommitAnswer& value, wire::CommitAnswer::Builder to) {
  to.setSequence(value.sequence);
  to.setOutcome(toWireEnum<wire::CommitAnswer::Outcome>(value.outcome));
  to.setProblem(text(value.problem));
  auto grants = to.initGrants(static_cast<uint32_t>(value.grants.size()));
  for (uint32_t i = 0; i < value.grants.size(); ++i) {
    const Grant& grant = value.grants[i];
    grants[i].setVerdict(toWireEnum<wire::Verdict>(grant.verdict));
    grants[i].setAllocation(grant.allocation);
    writeNumbers<uint16_t>(grant.rus, grants[i].initRus(static_cast<uint32_t>(grant.rus.size())));
    write(grant.extras, grants[i].initExtras(static_cast<uint32_t>(grant.extras.size())));
  }
  auto servers = to.initServers(static_cast<uint32_t>(value.servers.size()));
  for (uint32_t i = 0; i < value.servers.size(); ++i) write(value.servers[i], servers[i]);
}

CommitAnswer read(wire::CommitAnswer::Reader from) {
  CommitAnswer value;
  value.sequence = from.getSequence();
  value.outcome = fromWireEnum<CommitAnswer::Outcome>(from.getOutcome(), 7, "CommitAnswer.Outcome");
  value.problem = text(from.getProblem());
  for (auto grant : elements(from.getGrants())) {
    value.grants.push_back({fromWireEnum<Verdict>(grant.getVerdict(), 12, "Verdict"), grant.getAllocation(),
                            readNumbers<uint16_t>(grant.getRus()), read(grant.getExtras())});
  }
  for (auto server : elements(from.getServers())) value.servers.push_back(read(server));
  return value;
}

void write(const ServerName& value, wire::ServerName::Builder to) {
  to.setId(value.id);
  to.setName(text(value.name));
  to.setPlatform(text(value.platform));
}

ServerName read(wire::ServerName::Reader from) {
  return {from.getId(), text(from.getName()), text(from.getPlatform())};
}

void write(const JobPlan& value, wire::Plan::Builder to) {
  auto claims = to.initClaims(static_cast<uint32_t>(value.claims.size()));
  for (uint32_t i = 0; i < value.claims.size(); ++i) writeClaim(value.claims[i], claims[i]);
  write(value.explanation, to.initExplanation());
  to.setWaitReason(text(value.waitReason));
  auto servers = to.initServers(static_cast<uint32_t>(value.servers.size()));
  for (uint32_t i = 0; i < value.servers.size(); ++i) write(value.servers[i], servers[i]);
  to.setUsableUnits(value.usableUnits);
  to.setFreeUnits(value.freeUnits);
}

JobPlan read(wire::Plan::Reader from) {
  JobPlan value;
  for (auto claim : elements(from.getClaims())) value.claims.push_back(readClaim(claim));
  value.explanation = read(from.getExplanation(), JobPlan::kMaxCandidates);
  value.waitReason = text(from.getWaitReason());
  for (auto server : elements(from.getServers())) value.servers.push_back(read(server));
  value.usableUnits = from.getUsableUnits();
  value.freeUnits = from.getFreeUnits();
  return value;
}

void write(const JobAssignment& value, wire::JobAssignment::Builder to) {
  write(value.job, to.initJob());
  to.setComplete(value.complete);
  to.setOver(value.over);
  auto tasks = to.initTasks(static_cast<uint32_t>(value.tasks.size()));
  for (uint32_t i = 0; i < value.tasks.size(); ++i) {
    const TaskAssignment& task = value.tasks[i];
    tasks[i].setIndex(task.index);
    tasks[i].setAttempt(task.attempt);
    tasks[i].setState(toWire(task.state));
    tasks[i].setDelay(static_cast<uint64_t>(task.delay.count()));
    tasks[i].setAllocation(task.allocation);
    tasks[i].setServer(task.server);
    writeNumbers<uint16_t>(task.rus, tasks[i].initRus(static_cast<uint32_t>(task.rus.size())));
    write(task.extras, tasks[i].initExtras(static_cast<uint32_t>(task.extras.size())));
  }
  auto waiting = to.initWaiting(static_cast<uint32_t>(value.waiting.size()));
  for (uint32_t i = 0; i < value.waiting.size(); ++i) {
    waiting[i].setFirst(value.waiting[i].first);
    waiting[i].setLast(value.waiting[i].last);
  }
}

JobAssignment read(wire::JobAssignment::Reader from) {
  JobAssignment value;
  value.job = read(from.getJob());
  value.complete = from.getComplete();
  value.over = from.getOver();
  for (auto task : elements(from.getTasks())) {
    value.tasks.push_back({task.getIndex(), task.getAttempt(), fromWire(task.getState()),
                           readDuration(task.getDelay(), "delay"), task.getAllocation(), task.getServer(),
                           readNumbers<uint16_t>(task.getRus()), read(task.getExtras())});
  }
  for (auto range : elements(from.getWaiting())) value.waiting.push_back({range.getFirst(), range.getLast()});
  return value;
}

}  // namespace tarcil
