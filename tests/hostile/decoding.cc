#include "tests/hostile/decoding.h"

#include <capnp/serialize.h>
#include <kj/debug.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "schema/convert.h"

namespace tarcil::hostile {
namespace {

template <typename W>
kj::Array<capnp::word> encoded(const auto& value) {
  capnp::MallocMessageBuilder message;
  write(value, message.initRoot<W>());
  return capnp::messageToFlatArray(message);
}

template <typename W>
size_t decodeAs(capnp::MessageReader& message) {
  const auto value = read(message.getRoot<W>());
  const auto once = encoded<W>(value);
  capnp::FlatArrayMessageReader again(once);
  // Bytes are compared, since values may hold numbers that do not equal themselves.
  if (encoded<W>(read(again.getRoot<W>())).asBytes() != once.asBytes()) std::abort();
  return once.asBytes().size();
}

size_t decodePlatform(capnp::MessageReader& message) {
  return sizeof(readShare(message.getRoot<wire::Platform>()));
}

using Decoder = size_t (*)(capnp::MessageReader&);
constexpr std::array<Decoder, 21> kDecoders = {
    decodeAs<wire::Caller>,      decodeAs<wire::JobSpec>,        decodeAs<wire::TaskEnd>,
    decodeAs<wire::JobRecord>,   decodeAs<wire::JobProgress>,    decodeAs<wire::TaskRecord>,
    decodeAs<wire::Explanation>, decodeAs<wire::DecisionRecord>, decodeAs<wire::JobAssignment>,
    decodeAs<wire::ServerFacts>, decodeAs<wire::ServerUpdate>,   decodeAs<wire::QualitySettings>,
    decodeAs<wire::Usage>,       decodeAs<wire::Commit>,         decodeAs<wire::CommitAnswer>,
    decodeAs<wire::ServerName>,  decodeAs<wire::Plan>,           decodeAs<wire::LaunchSpec>,
    decodeAs<wire::TaskReport>,  decodeAs<wire::KnownTask>,      decodePlatform};

// --- Examples: each field that is a list, a text or a choice has something in it ---

JobSpec jobSpec() {
  JobSpec spec;
  spec.name = "example";
  spec.command = {"sh", "-c", "true"};
  spec.env = {{"A", "1"}, {"B", "2"}};
  spec.tasks = 3;
  spec.rusPerTask = 2;
  spec.extras = {{"gpus", 1}, {"licences", 2}};
  spec.target = 0.9;
  spec.profile.application = "application";
  spec.profile.platforms = {{"haswell", 0.5}};
  spec.placement.constraints = {{"rack", Constraint::Operator::kIn, {"r1", "r2"}}};
  spec.placement.prefer = {"server-1"};
  spec.placement.preferOfTask = {{1, {"server-2"}}};
  return spec;
}

JobRecord jobRecord() {
  JobRecord record;
  record.id.bytes.fill(7);
  record.spec = jobSpec();
  record.user = "ada";
  record.runAs = "nobody";
  return record;
}

Explanation explanation() {
  Explanation explanation;
  explanation.drawn = 8;
  explanation.wanted = explanation.placed = 3;
  explanation.best.resize(3);
  explanation.best[1].server = 4;
  explanation.best[1].rusCount = 2;
  return explanation;
}

Claim claim() {
  Claim claim;
  claim.task = 1;
  claim.rus = 2;
  claim.preferred = {0, 3};
  claim.floor = 0.5;
  return claim;
}

Commit commit() {
  Commit commit;
  commit.sequence = 1;
  commit.job = jobRecord().id;
  commit.newJob.emplace().record = jobRecord();
  commit.newJob->files = std::make_shared<const std::vector<InputFile>>(
      std::vector<InputFile>{{"a/file", 0644, "content"}, {"another", 0755, ""}});
  commit.claims = {claim(), claim()};
  commit.waitReason = "waits";
  commit.explanation = explanation();
  return commit;
}

ServerFacts serverFacts() {
  ServerFacts facts;
  facts.name = "server-1";
  facts.platform = "haswell";
  facts.rack = "r1";
  facts.attributes = {{"disk", "ssd"}};
  facts.rus = facts.cores = 16;
  facts.extras = {{"gpus", 4}};
  facts.missing = {"perf"};
  return facts;
}

ServerUpdate serverUpdate() {
  ServerUpdate update{1, serverFacts(), {}};
  update.status.version = 9;
  update.status.free = RuSet::all(16);
  return update;
}

TaskEnd taskEnd() {
  TaskEnd end;
  end.cause = EndCause::kTimedOut;
  end.problem = "took too long";
  return end;
}

TaskRecord taskRecord() {
  TaskRecord task;
  task.job = jobRecord().id;
  task.server = "server-1";
  task.rus = {1, 2};
  task.extras = {{"gpus", {0, 3}}};
  task.end = taskEnd();
  return task;
}

JobProgress jobProgress() {
  JobProgress progress;
  progress.id = jobRecord().id;
  progress.reason = "waits";
  progress.owner = "agent-1";
  return progress;
}

JobAssignment jobAssignment() {
  TaskAssignment task;
  task.rus = {1, 2};
  task.extras = {{"gpus", {0}}};
  return {jobRecord(), true, false, {task, task}, {{3, 9}}};
}

JobPlan jobPlan() {
  JobPlan plan;
  plan.claims = {claim()};
  plan.explanation = explanation();
  plan.waitReason = "full";
  plan.servers = {{1, "server-1", "haswell"}};
  return plan;
}

LaunchSpec launchSpec() {
  LaunchSpec launch;
  launch.allocation = 12;
  launch.server = "server-1";
  launch.rus = {1, 2};
  launch.extras = {{"gpus", {0}}};
  launch.command = {"true"};
  launch.env = {{"A", "1"}};
  launch.user = "nobody";
  return launch;
}

Bytes bytes(const kj::Array<capnp::word>& words) {
  const auto view = words.asBytes();
  return {view.begin(), view.end()};
}

Bytes platform() {
  capnp::MallocMessageBuilder message;
  write("haswell", fullShare(), message.initRoot<wire::Platform>());
  return bytes(capnp::messageToFlatArray(message));
}

}  // namespace

size_t kinds() {
  return kDecoders.size();
}

size_t decode(size_t kind, const uint8_t* bytes, size_t size) {
  auto words = kj::heapArray<capnp::word>(size / sizeof(capnp::word));
  if (words.size() != 0) std::memcpy(words.asBytes().begin(), bytes, words.asBytes().size());
  // A message that cannot be read is refused so; everything else is not caught.
  size_t taken = 0;
  auto refused = kj::runCatchingExceptions([kind, &words, &taken]() {
    capnp::FlatArrayMessageReader message(words);
    taken = kDecoders.at(kind)(message);
  });
  return refused == nullptr ? taken : 0;
}

std::vector<Bytes> examples() {
  Usage usage;
  usage.user = "ada";
  return {bytes(encoded<wire::Caller>(Caller{"ada", Role::kOperate, {"nobody", "ada"}})),
          bytes(encoded<wire::JobSpec>(jobSpec())),
          bytes(encoded<wire::TaskEnd>(taskEnd())),
          bytes(encoded<wire::JobRecord>(jobRecord())),
          bytes(encoded<wire::JobProgress>(jobProgress())),
          bytes(encoded<wire::TaskRecord>(taskRecord())),
          bytes(encoded<wire::Explanation>(explanation())),
          bytes(encoded<wire::DecisionRecord>(DecisionRecord{jobRecord().id, 0, {0, 1}, explanation()})),
          bytes(encoded<wire::JobAssignment>(jobAssignment())),
          bytes(encoded<wire::ServerFacts>(serverFacts())),
          bytes(encoded<wire::ServerUpdate>(serverUpdate())),
          bytes(encoded<wire::QualitySettings>(QualitySettings{})),
          bytes(encoded<wire::Usage>(usage)),
          bytes(encoded<wire::Commit>(commit())),
          bytes(encoded<wire::CommitAnswer>(CommitAnswer{1,
                                                         CommitAnswer::Outcome::kOk,
                                                         "",
                                                         {{Verdict::kGranted, 5, {1, 2}, {{"gpus", {1}}}}},
                                                         {serverUpdate()}})),
          bytes(encoded<wire::ServerName>(ServerName{1, "server-1", "haswell"})),
          bytes(encoded<wire::Plan>(jobPlan())),
          bytes(encoded<wire::LaunchSpec>(launchSpec())),
          bytes(encoded<wire::TaskReport>(TaskReport{12, true, taskEnd()})),
          bytes(encoded<wire::KnownTask>(KnownTask{12, "server-1"})),
          platform()};
}

}  // namespace tarcil::hostile
