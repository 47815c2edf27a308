// The compiled schema is walked: no field of a message that is kept or sent as a value is left unwritten
// or unread.
#include <capnp/dynamic.h>
#include <capnp/message.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schema/convert.h"
#include "schema/convert_cron.h"
#include "schema/convert_member.h"
#include "schema/convert_people.h"
#include "schema/convert_profile.h"
#include "schema/convert_secret.h"
#include "tests/support/job_values.h"

namespace tarcil::wire_fields_test {

using testing::IsEmpty;

// Collects the fields that have their default value in the message, and in the first entries of its lists. A
// flag that is true in a value by default is written as false here: it counts as unset if it is false in
// `plain` too, the message of a value in which everything has its default.
void collectUnset(capnp::DynamicStruct::Reader message, capnp::DynamicStruct::Reader plain,
                  const std::string& path, std::vector<std::string>& unset);

void collectUnsetBelow(capnp::DynamicValue::Reader value, capnp::DynamicValue::Reader plain,
                       const std::string& path, std::vector<std::string>& unset) {
  switch (value.getType()) {
    case capnp::DynamicValue::STRUCT:
      return collectUnset(value.as<capnp::DynamicStruct>(), plain.as<capnp::DynamicStruct>(), path, unset);
    case capnp::DynamicValue::LIST: {
      const auto list = value.as<capnp::DynamicList>();
      if (list.size() == 0) return unset.push_back(path);
      return collectUnsetBelow(list[0], list[0], path + "[0]", unset);
    }
    case capnp::DynamicValue::TEXT:
      if (value.as<capnp::Text>().size() == 0) unset.push_back(path);
      return;
    case capnp::DynamicValue::DATA:
      if (value.as<capnp::Data>().size() == 0) unset.push_back(path);
      return;
    default:
      return;
  }
}

void collectUnset(capnp::DynamicStruct::Reader message, capnp::DynamicStruct::Reader plain,
                  const std::string& path, std::vector<std::string>& unset) {
  for (const auto field : message.getSchema().getFields()) {
    const std::string name = field.getProto().getName().cStr();
    if (name.starts_with("obsolete")) continue;
    const std::string at = path + "." + name;
    if (message.has(field, capnp::HasMode::NON_DEFAULT)) {
      collectUnsetBelow(message.get(field), plain.get(field), at, unset);
    } else if (!plain.has(field, capnp::HasMode::NON_DEFAULT)) {
      unset.push_back(at);
    }
  }
}

// What a value in which everything differs from `plain` leaves unset on the wire.
template <typename Wire, typename Value>
std::vector<std::string> unsetIn(const Value& value, const Value& plain) {
  capnp::MallocMessageBuilder message, plainMessage;
  auto root = message.initRoot<Wire>();
  write(value, root);
  auto plainRoot = plainMessage.initRoot<Wire>();
  write(plain, plainRoot);
  std::vector<std::string> unset;
  collectUnset(capnp::DynamicStruct::Reader(root.asReader()),
               capnp::DynamicStruct::Reader(plainRoot.asReader()), "", unset);
  return unset;
}

// The same, beside a value of defaults; besides, it comes back as it was.
template <typename Wire, typename Value>
std::vector<std::string> unsetBy(const Value& value) {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<Wire>();
  write(value, root);
  EXPECT_EQ(read(root.asReader()), value);
  return unsetIn<Wire>(value, Value{});
}

JobId anId() {
  JobId id;
  id.bytes.fill(7);
  return id;
}

JobSpec aFullSpec() {
  JobSpec job;
  forEachJobField([&job](const auto& field) { setUnusual(field, job); });
  job.placement.spread = Domain::kRack;
  job.placement.pack = Domain::kServer;
  job.command = {"train"};
  job.env = {{"A", "b"}};
  job.extras = {{"gpus", 2}};
  job.profile.application = "logreg";
  job.profile.caused.fill(3);
  job.profile.tolerated.fill(4);
  job.profile.platforms = {{"p", 0.5}};
  job.profile.isAssumed = true;
  job.profileLookedUp = true;
  job.profile.origins.caused[0] = {Origin::kInferred, 5};
  job.profile.origins.setPlatform("p", {Origin::kInferred, 6});
  job.placement.constraints = {{"rack", Constraint::Operator::kIn, {"r1"}}};
  job.placement.prefer = {"s1"};
  job.placement.preferOfTask = {{1, {"s2"}}};
  job.placement.requireOfTask = {{1, {{"rack", Constraint::Operator::kIn, {"r1"}}}}};
  job.performance = {Metric::kCpuTime, 2, 0.5, std::chrono::seconds(3)};
  job.measures = "logreg";
  job.container.imageDigest = "sha256:1";
  job.earlier = {{"p", 0.5}};
  job.after = {{anId()}, {anId()}, {anId()}, anId(), After::Unmet::kHold};
  job.items = Items({"a"});
  job.input = "i";
  job.output = "/o";
  job.error = "/e";
  job.streamed = true;
  job.results = {"*.csv"};
  job.secrets = {"db"};
  return job;
}

JobRecord aFullRecord() {
  return {anId(),
          aFullSpec(),
          "alice",
          "build",
          true,
          WallTime(Duration(9)),
          WallTime(Duration(10)),
          11,
          12,
          13,
          "nightly",
          WallTime(Duration(14))};
}

TaskEnd aFullEnd() {
  TaskEnd end;
  end.cause = EndCause::kTimedOut;
  end.exitCode = 3;
  end.signal = 9;
  end.oomKilled = true;
  end.lacksOutput = true;
  end.problem = "too slow";
  end.started = WallTime(Duration(5));
  end.ended = WallTime(Duration(6));
  end.peakMemoryBytes = 7;
  end.cpuTime = Duration(8);
  return end;
}

Explanation aFullExplanation() {
  Explanation explanation;
  explanation.drawn = 8;
  explanation.acceptable = 3;
  explanation.limit = 32;
  explanation.rarity = 0.02;
  explanation.freeSlots = 9;
  explanation.confidence = 0.99;
  explanation.allSeen = explanation.enoughFound = true;
  explanation.margin = 10;
  explanation.price = 0.5;
  explanation.waitingJobs = 14;
  explanation.dropped.fill(1);
  explanation.best = {{.server = 1,
                       .rus = {1, 2, 3, 4},
                       .rusCount = 4,
                       .q = 0.5,
                       .s = 0.25,
                       .cost = 0.25F,
                       .after = TieBreak::kQ}};
  explanation.best[0].contention.fill(2);
  explanation.best[0].slack.fill(3);
  explanation.seed = 77;
  explanation.wanted = 2;
  explanation.sought = 1;
  explanation.placed = 1;
  return explanation;
}

ServerUpdate aFullServer() {
  ServerUpdate update{.id = 3, .facts = ServerFacts{}, .status = {}};
  update.facts = {.name = "s",
                  .platform = "p",
                  .rack = "r",
                  .attributes = {{"disk", "ssd"}},
                  .rus = 4,
                  .extras = {{"gpus", 1}},
                  .cores = 2,
                  .memoryBytes = 1 << 20,
                  .memoryOvercommit = 150,
                  .diskBytes = 1 << 21,
                  .address = "unix:/x",
                  .emulated = true,
                  .missing = {"perf"}};
  update.status.version = 9;
  update.status.up = update.status.cordoned = update.status.quarantined = update.status.removed = true;
  update.status.free.insert(1);
  update.status.freeExtras["gpus"].insert(0);
  update.status.allocated = {1 << 10, 1 << 11};
  update.status.sum.fill(5);
  update.status.bound.fill(6);
  update.status.background.fill(7);
  update.status.residents = {{Profile::filled(2), Profile::filled(3), 4, true}};
  return update;
}

Claim aFullClaim() {
  return {.task = 1,
          .attempt = 2,
          .server = 3,
          .rus = 4,
          .preferred = {5},
          .versionSeen = 6,
          .floor = 0.7,
          .q = 0.8,
          .s = 0.9};
}

TEST(WireFields, OfJobs) {
  EXPECT_THAT(unsetBy<wire::JobRecord>(aFullRecord()), IsEmpty());
  EXPECT_THAT(
      unsetBy<wire::JobProgress>(JobProgress{anId(), RunState::kFailed, "r", "x", true, 3,
                                             WallTime(Duration(4)), true, WallTime(Duration(8)), true, true}),
      IsEmpty());
}

TEST(WireFields, OfTasks) {
  TaskRecord task{.job = anId(),
                  .index = 1,
                  .state = RunState::kRunning,
                  .attempt = 2,
                  .failures = 3,
                  .excused = 9,
                  .allocation = 4,
                  .server = "s",
                  .rus = {5},
                  .extras = {{"gpus", {1}}},
                  .q = 0.5,
                  .s = 0.25,
                  .decision = 6,
                  .stopping = true,
                  .moving = true,
                  .movedFor = "noise",
                  .placed = WallTime(Duration(7)),
                  .end = aFullEnd(),
                  .previous = "lost",
                  .earlier = {{1, 3, "t"}},
                  .mayRunFor = Duration(8)};
  EXPECT_THAT(unsetBy<wire::TaskRecord>(task), IsEmpty());
  EXPECT_THAT(unsetBy<wire::DecisionRecord>(DecisionRecord{anId(), 2, {1}, aFullExplanation()}), IsEmpty());
  JobAssignment assignment{aFullRecord(),
                           true,
                           true,
                           {{.index = 1,
                             .attempt = 2,
                             .state = RunState::kRunning,
                             .delay = Duration(3),
                             .allocation = 4,
                             .server = 5,
                             .rus = {6},
                             .extras = {{"gpus", {1}}}}},
                           {{7, 8}}};
  EXPECT_THAT(unsetBy<wire::JobAssignment>(assignment), IsEmpty());
}

TEST(WireFields, OfLaunchesAndReports) {
  LaunchSpec launch;
  static_cast<TaskSpec&>(launch) = aFullSpec();
  launch.allocation = 1;
  launch.job = anId();
  launch.jobName = "train";
  launch.submitter = "alice";
  launch.task = 2;
  launch.attempt = 3;
  launch.tasks = 4;
  launch.server = "s";
  launch.rus = {5};
  launch.extras = {{"gpus", {1}}};
  launch.hasFiles = launch.measures = true;
  launch.caused.fill(6);
  launch.tolerated.fill(7);
  launch.earlier = 0.5;
  launch.gang = GangHosts{"a,b", "a slots=1\nb slots=1\n"};
  EXPECT_THAT(unsetBy<wire::LaunchSpec>(launch), IsEmpty());
  // A measurement has a profile, or says why there is none.
  TaskReport report{1, true, aFullEnd(), Measurement{aFullSpec().profile, ""}, 0.5, "sha256:1"};
  EXPECT_THAT(unsetBy<wire::TaskReport>(report), testing::ElementsAre(".measured.problem"));
  report.measured = Measurement{{}, "no counters"};
  EXPECT_THAT(unsetBy<wire::TaskReport>(report), testing::Not(testing::Contains(".measured.problem")));
}

TEST(WireFields, OfCommits) {
  Commit commit{.sequence = 2,
                .answered = 1,
                .job = anId(),
                .newJob = NewJob{aFullRecord(), nullptr},
                .judging = {QualityModel::kComponentwise, ContentionModel::kMean, 3, 4, true, 0.625},
                .gang = true,
                .claims = {aFullClaim()},
                .capacityVersion = 5,
                .waitReason = "no free unit",
                .explanation = aFullExplanation()};
  commit.newJob->files =
      std::make_shared<const std::vector<InputFile>>(std::vector<InputFile>{{"a", 0755, "x"}});
  Commit plain;
  plain.newJob.emplace();
  EXPECT_THAT(unsetIn<wire::Commit>(commit, plain), IsEmpty());
  CommitAnswer answer{2,
                      CommitAnswer::Outcome::kRefused,
                      "why",
                      {{Verdict::kNotFree, 3, {4}, {{"gpus", {1}}}}},
                      {aFullServer()}};
  EXPECT_THAT(unsetBy<wire::CommitAnswer>(answer), IsEmpty());
}

TEST(WireFields, OfProfiles) {
  StoredProfile stored{.profile = aFullSpec().profile,
                       .user = "alice",
                       .stored = WallTime(Duration(9)),
                       .revision = 2,
                       .note = "by hand",
                       .history = {{WallTime(Duration(7)), Resource::kTlb, 80, 75, 40, 0.7}},
                       .isOwn = true};
  EXPECT_THAT(unsetBy<wire::StoredProfile>(stored), IsEmpty());
  Profiling failed{.application = "sort",
                   .job = anId(),
                   .user = "alice",
                   .at = WallTime(Duration(7)),
                   .problem = "the command fails"};
  EXPECT_THAT(unsetBy<wire::Profiling>(failed), IsEmpty());
  ObservedProfile observed{.application = "sort", .user = "alice", .last = WallTime(Duration(7))};
  observed.caused.fill({3, 20.5, 1.5});
  observed.performances = {{"p", Metric::kCpuTime, 2, {3, 20.5, 1.5}, WallTime(Duration(7))}};
  EXPECT_THAT(unsetBy<wire::ObservedProfile>(observed), IsEmpty());
}

TEST(WireFields, OfCrons) {
  const CronRun run{.planned = WallTime(Duration(1)),
                    .before = WallTime(Duration(2)),
                    .isByHand = true,
                    .job = anId(),
                    .number = 3,
                    .state = RunState::kFailed,
                    .reason = "no agent"};
  const Cron cron{.spec = {.id = anId(),
                           .name = "nightly",
                           .schedule = "0 6 * * *",
                           .zone = "Europe/Berlin",
                           .ifRunning = IfRunning::kReplace,
                           .deadline = Duration(4),
                           .job = aFullSpec()},
                  .user = "alice",
                  .runAs = "build",
                  .added = WallTime(Duration(5)),
                  .isHeld = true,
                  .takenUp = WallTime(Duration(6)),
                  .pending = WallTime(Duration(7)),
                  .problem = "no agent",
                  .lastJob = run,
                  .lastMade = WallTime(Duration(8)),
                  .runs = {run}};
  EXPECT_THAT(unsetBy<wire::Cron>(cron), IsEmpty());
}

TEST(WireFields, OfMembers) {
  const MemberRecord member{.role = MemberRole::kMonitor,
                            .name = "s7",
                            .invitation = Invitation{.word = {1, 2, 3}, .until = WallTime(Duration(1))},
                            .certificates = {{2, WallTime(Duration(3)), WallTime(Duration(4)), true}}};
  EXPECT_THAT(unsetBy<wire::Member>(member), IsEmpty());
  EXPECT_THAT(unsetBy<wire::MasterKeys>(MasterKeys{"key", "tokens", SecretBytes("secrets")}), IsEmpty());
}

TEST(WireFields, OfPeople) {
  const UserRecord user{
      .name = "n", .account = "a", .role = Role::kOperate, .runAs = {"r"}, .changedBy = "c"};
  EXPECT_THAT(unsetBy<wire::User>(user), IsEmpty());
  const AccountRecord account{.name = "n",
                              .shares = 2,
                              .bounds = {.runningUnits = 3,
                                         .waitingTasks = 4,
                                         .specificationBytes = 5,
                                         .highestPriority = 6,
                                         .mayOptOut = false},
                              .changedBy = "c"};
  EXPECT_THAT(unsetBy<wire::Account>(account), IsEmpty());
  const TokenRecord token{.id = 1,
                          .digest = {1},
                          .user = "u",
                          .role = Role::kRead,
                          .runAs = {"r"},
                          .made = WallTime(Duration(1)),
                          .until = WallTime(Duration(2)),
                          .madeBy = "m"};
  EXPECT_THAT(unsetBy<wire::UserToken>(token), IsEmpty());
}

TEST(WireFields, OfSecrets) {
  SecretRecord secret{.owner = "o", .name = "n", .grants = {{"u", "a"}}, .version = 2};
  secret.value = {.key = "k", .nonce = {1}, .bytes = "b"};
  secret.changed = WallTime(Duration(3));
  EXPECT_THAT(unsetBy<wire::Secret>(secret), IsEmpty());
  EXPECT_THAT(unsetBy<wire::TaskSecret>(TaskSecret{"n", SecretBytes(std::string_view("v"))}), IsEmpty());
}

TEST(WireFields, OfServersAndSettings) {
  EXPECT_THAT(unsetBy<wire::ServerUpdate>(aFullServer()), IsEmpty());
  JobPlan plan{{aFullClaim()}, aFullExplanation(), "w", {{1, "s", "p"}}, 8, 4};
  EXPECT_THAT(unsetBy<wire::Plan>(plan), IsEmpty());
}

}  // namespace tarcil::wire_fields_test
