#include "tests/fuzz/decoding.h"

#include <capnp/schema.h>
#include <capnp/serialize.h>
#include <kj/debug.h>

#include <algorithm>

#include "schema/convert.h"
#include "schema/convert_cron.h"
#include "schema/convert_member.h"
#include "schema/convert_people.h"
#include "schema/convert_performance.h"
#include "schema/convert_pressure.h"
#include "schema/convert_profile.h"
#include "schema/convert_results.h"
#include "schema/convert_secret.h"
#include "tests/fuzz/message_mutation.h"

namespace tarcil::fuzz {
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
  require(encoded<W>(read(again.getRoot<W>())).asBytes() == once.asBytes(),
          "it does not come back as it was written");
  return once.asBytes().size();
}

size_t decodePlatform(capnp::MessageReader& message) {
  const Share share = readShare(message.getRoot<wire::Platform>());
  capnp::MallocMessageBuilder again;
  write("", share, again.initRoot<wire::Platform>());
  require(readShare(again.getRoot<wire::Platform>()) == share,
          "a share does not come back as it was written");
  return sizeof share;
}

// --- Examples

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
  spec.placement.requireOfTask = {{1, {{"server", Constraint::Operator::kIn, {"server-2"}}}}};
  JobId other;
  other.bytes.fill(8);
  spec.after = {{other}, {}, {other}, other, After::Unmet::kHold};
  spec.items = Items({"a", "b", "c"});
  spec.input = "in-{index}";
  spec.output = "/srv/out-{index}";
  spec.results = {"out/*.csv"};
  spec.secrets = {"db", "ann/tls"};
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
  update.status.residents = {{.count = 2}};
  return update;
}

TaskEnd taskEnd() {
  TaskEnd end;
  end.cause = EndCause::kTimedOut;
  end.lacksOutput = true;
  end.peakMemoryBytes = 4096;
  end.cpuTime = std::chrono::seconds(2);
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
  task.earlier = {{1, 2, "server-2"}};
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
  launch.gang = GangHosts{"a,b", "a slots=1\nb slots=1\n"};
  return launch;
}

Profile profile() {
  Profile profile = jobSpec().profile;
  profile.origins.caused[0] = {Origin::kInferred, 5};
  profile.origins.setPlatform("haswell", {Origin::kInferred, 6});
  return profile;
}

StoredProfile storedProfile() {
  StoredProfile stored{.profile = profile(), .user = "ada", .note = "by hand"};
  stored.history = {{.resource = Resource::kLlc, .from = 40, .to = 30, .interference = 35, .share = 0.8}};
  return stored;
}

ObservedProfile observedProfile() {
  ObservedProfile observed{.application = "application", .user = "ada"};
  observed.caused[0] = {3, 20, 1.5};
  observed.performances = {{.platform = "haswell", .rus = 2, .reached = {4, 0.9, 0.1}}};
  return observed;
}

Violation violation() {
  Violation violation;
  violation.allocation = 12;
  violation.expected = 1.5;
  violation.measured = 0.75;
  violation.causes = {{Cause::Kind::kNeighbour, Resource::kLlc, 9, 0.8, "llc 70 of 30"}};
  return violation;
}

PerformanceSample performanceSample() {
  return {12, {1.5, 0.75}};
}

ServerPressure serverPressure() {
  ServerPressure pressure{"server-1", {}, {{Resource::kLlc, "is not counted here"}}};
  pressure.tasks = {{.allocation = 12, .caused = {}, .measured = 3}};
  return pressure;
}

TaskReport taskReport() {
  TaskReport report{12, true, taskEnd()};
  report.measured = Measurement{profile(), ""};
  report.reached = 0.5;
  report.image = "sha256:1";
  return report;
}

Usage usage() {
  Usage usage;
  usage.user = "ada";
  return usage;
}

CommitAnswer commitAnswer() {
  return {
      1, CommitAnswer::Outcome::kOk, "", {{Verdict::kGranted, 5, {1, 2}, {{"gpus", {1}}}}}, {serverUpdate()}};
}

Caller caller() {
  return {"ada", Role::kOperate, {"nobody", "ada"}};
}

DecisionRecord decision() {
  return {jobRecord().id, 0, {0, 1}, explanation()};
}

QualitySettings settings() {
  return {};
}
ServerName serverName() {
  return {1, "server-1", "haswell"};
}
KnownTask knownTask() {
  return {12, "server-1"};
}
Profiling profiling() {
  return {.application = "application", .job = jobRecord().id, .user = "ada", .problem = "too loud"};
}
TaskViolation taskViolation() {
  return {jobRecord().id, 4711, 1, "server-1", violation(), {"task 3 of sort"}};
}
TaskCharge taskCharge() {
  return {.task = 1, .caused = {}, .measured = 5};
}

CronSpec cronSpec() {
  return {.id = jobRecord().id,
          .name = "nightly",
          .schedule = "0 6 * * 1-5",
          .zone = "Europe/Berlin",
          .job = jobSpec()};
}

Cron cron() {
  const CronRun run{.job = jobRecord().id, .number = 4711, .reason = "no agent is attached"};
  return {.spec = cronSpec(), .user = "ada", .lastJob = run, .runs = {run}};
}

MemberRecord member() {
  return {.role = MemberRole::kMonitor,
          .name = "s7",
          .invitation = Invitation{.word = {1, 2, 3}, .until = WallTime(Duration(1))},
          .certificates = {{2, WallTime(Duration(3)), WallTime(Duration(4)), true}}};
}

MasterKeys masterKeys() {
  return {.authority = "key", .tokens = "word ann submit", .secrets = SecretBytes("seal")};
}

UserRecord user() {
  return {.name = "ann", .account = "physics", .role = Role::kRead, .runAs = {"ann"}, .changedBy = "oscar"};
}

AccountRecord account() {
  return {.name = "physics",
          .shares = 3,
          .bounds = {.runningUnits = 64, .waitingTasks = 100, .specificationBytes = 1 << 20},
          .changedBy = "oscar"};
}

TokenRecord userToken() {
  return {.id = 7,
          .digest = {1, 2, 3},
          .user = "ann",
          .runAs = {"ann"},
          .made = WallTime(Duration(1)),
          .until = WallTime(Duration(2)),
          .madeBy = "oscar"};
}

SecretRecord secret() {
  SecretRecord secret{.owner = "ann", .name = "db", .grants = {{"bob", "etl"}}, .version = 2};
  secret.value = {.key = "k", .nonce = {1, 2}, .bytes = "sealed, and a tag of 16 bytes"};
  return secret;
}

TaskSecret taskSecret() {
  return {"db", SecretBytes(std::string_view("hunter2"))};
}

ResultFile resultFile() {
  return {"out/a.csv", 12, 0644};
}

Bytes platform() {
  capnp::MallocMessageBuilder message;
  write("haswell", fullShare(), message.initRoot<wire::Platform>());
  return inputOf(capnp::messageToFlatArray(message));
}

// --- Kinds

struct Kind {
  std::string_view name;
  capnp::StructSchema (*schema)();
  size_t (*decode)(capnp::MessageReader& message);
  Bytes (*example)();
};

template <typename W, auto kExample>
constexpr Kind kindOf(std::string_view name) {
  return {name, []() { return capnp::Schema::from<W>(); }, decodeAs<W>,
          []() { return inputOf(encoded<W>(kExample())); }};
}

// New ones at the end: the corpus numbers them.
constexpr Kind kKinds[] = {
    kindOf<wire::Caller, caller>("Caller"),
    kindOf<wire::JobSpec, jobSpec>("JobSpec"),
    kindOf<wire::TaskEnd, taskEnd>("TaskEnd"),
    kindOf<wire::JobRecord, jobRecord>("JobRecord"),
    kindOf<wire::JobProgress, jobProgress>("JobProgress"),
    kindOf<wire::TaskRecord, taskRecord>("TaskRecord"),
    kindOf<wire::Explanation, explanation>("Explanation"),
    kindOf<wire::DecisionRecord, decision>("DecisionRecord"),
    kindOf<wire::JobAssignment, jobAssignment>("JobAssignment"),
    kindOf<wire::ServerFacts, serverFacts>("ServerFacts"),
    kindOf<wire::ServerUpdate, serverUpdate>("ServerUpdate"),
    kindOf<wire::QualitySettings, settings>("QualitySettings"),
    kindOf<wire::Usage, usage>("Usage"),
    kindOf<wire::Commit, commit>("Commit"),
    kindOf<wire::CommitAnswer, commitAnswer>("CommitAnswer"),
    kindOf<wire::ServerName, serverName>("ServerName"),
    kindOf<wire::Plan, jobPlan>("Plan"),
    kindOf<wire::LaunchSpec, launchSpec>("LaunchSpec"),
    kindOf<wire::TaskReport, taskReport>("TaskReport"),
    kindOf<wire::KnownTask, knownTask>("KnownTask"),
    {"Platform", []() { return capnp::Schema::from<wire::Platform>(); }, decodePlatform, platform},
    kindOf<wire::StoredProfile, storedProfile>("StoredProfile"),
    kindOf<wire::Profiling, profiling>("Profiling"),
    kindOf<wire::ObservedProfile, observedProfile>("ObservedProfile"),
    kindOf<wire::Violation, violation>("Violation"),
    kindOf<wire::TaskViolation, taskViolation>("TaskViolation"),
    kindOf<wire::Sample, performanceSample>("Sample"),
    kindOf<wire::ServerPressure, serverPressure>("ServerPressure"),
    kindOf<wire::TaskCharge, taskCharge>("TaskCharge"),
    kindOf<wire::ResultFile, resultFile>("ResultFile"),
    kindOf<wire::Cron, cron>("Cron"),
    kindOf<wire::CronSpec, cronSpec>("CronSpec"),
    kindOf<wire::Member, member>("Member"),
    kindOf<wire::MasterKeys, masterKeys>("MasterKeys"),
    kindOf<wire::User, user>("User"),
    kindOf<wire::Account, account>("Account"),
    kindOf<wire::UserToken, userToken>("UserToken"),
    kindOf<wire::Secret, secret>("Secret"),
    kindOf<wire::TaskSecret, taskSecret>("TaskSecret"),
};

}  // namespace

size_t kinds() {
  return std::size(kKinds);
}

std::string_view nameOf(size_t kind) {
  return kKinds[kind].name;
}

capnp::StructSchema schemaOf(size_t kind) {
  return kKinds[kind].schema();
}

size_t decode(size_t kind, const uint8_t* bytes, size_t size) {
  const auto words = wordsOf(bytes, size);
  try {
    capnp::FlatArrayMessageReader message(words);
    return kKinds[kind].decode(message);
  } catch (const kj::Exception& refused) {
    require(refused.getDescription().size() > 0, "it is refused, and not said why");
    return 0;
  }
}

std::vector<Bytes> examples() {
  std::vector<Bytes> all;
  for (const Kind& kind : kKinds) all.push_back(kind.example());
  return all;
}

Bytes exampleOf(capnp::StructSchema schema) {
  const auto kind =
      std::ranges::find_if(kKinds, [&schema](const Kind& each) { return each.schema() == schema; });
  KJ_REQUIRE(kind != std::end(kKinds), "there is no example of this", schema.getShortDisplayName());
  return kind->example();
}

}  // namespace tarcil::fuzz
