// Records as bytes: what is written is read again, and so is what earlier formats wrote.
#include "master/store/codec/store_codec.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace tarcil::store_codec_test {

Record stored(const Record& record) {
  return decodeRecord(keyOf(record), encodeRecord(record));
}

// A record that a program of format 1 wrote: no extras, no policy, no packing.
template <typename T>
T ofFormat1(const std::string& name, const T& like) {
  std::ifstream file(TARCIL_TEST_DATA "/records/format-1-" + name, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << name;
  std::stringstream bytes;
  bytes << file.rdbuf();
  return std::get<T>(decodeRecord(keyOf(like), bytes.str()));
}

// As the files of format 1 hold them.
JobRecord job() {
  JobRecord job;
  job.id.bytes[3] = 5;
  job.spec.name = "train";
  job.spec.command = {"sleep", "5"};
  job.spec.tasks = 4;
  job.spec.placement.spread = Domain::kRack;
  job.spec.placement.prefer = {"s1", "s2"};
  job.user = "alice";
  job.runAs = "alice";
  return job;
}

TaskRecord task() {
  TaskRecord task;
  task.job = job().id;
  task.index = 2;
  task.state = RunState::kRunning;
  task.allocation = 77;
  task.server = "s1";
  task.rus = {1, 3};
  task.q = 0.75;
  task.s = 1;
  return task;
}

ServerRecord server() {
  ServerRecord server;
  server.id = 3;
  server.facts.name = "s1";
  server.facts.platform = "haswell-2.3";
  server.facts.attributes = {{"disk", "ssd"}};
  server.facts.rus = 8;
  server.facts.missing = {"perf"};
  server.monitor = "m";
  return server;
}

TEST(StoredRecords, ComeBackAsTheyWere) {
  JobRecord asking = job();
  asking.spec.policy = Policy::kGreedy;
  asking.spec.extras = {{"gpus", 2}};
  asking.spec.preemptible = true;
  EXPECT_EQ(std::get<JobRecord>(stored(asking)), asking);
  TaskRecord holding = task();
  holding.stopping = holding.moving = true;
  holding.movedFor = "server drained (s1)";
  holding.previous = "exited with code 1";
  holding.extras = {{"gpus", {0, 3}}};
  EXPECT_EQ(std::get<TaskRecord>(stored(holding)), holding);
  ServerRecord having = server();
  having.cordoned = having.draining = having.removed = true;
  having.drainAt = WallTime(std::chrono::seconds(1'700'000'000));
  having.cordonReason = "drained by root";
  having.facts.extras = {{"gpus", 4}};
  EXPECT_EQ(std::get<ServerRecord>(stored(having)), having);
  const Usage usage{"alice", 1, 2, 3, 4, 5, 6};
  EXPECT_EQ(std::get<Usage>(stored(usage)), usage);
  const StoredProfile profile{.profile = {.application = "sort@9.1",
                                          .caused = Profile::filled(3),
                                          .tolerated = Profile::filled(7),
                                          .platforms = {{"p", 0.5}}},
                              .user = "alice",
                              .stored = WallTime(std::chrono::seconds(1'700'000'000)),
                              .revision = 3,
                              .note = "measured"};
  EXPECT_EQ(std::get<StoredProfile>(stored(profile)), profile);
  StoredProfile measured = profile;
  measured.profile.origins = ProfileOrigins::all(Origin::kAssumed);
  measured.profile.origins.caused[2] = {Origin::kInferred, 12};
  measured.profile.origins.tolerated[9] = {Origin::kObserved};
  EXPECT_EQ(std::get<StoredProfile>(stored(measured)), measured);
  StoredProfile onPlatforms = profile;
  onPlatforms.profile.platforms = {{"p", 0.5}, {"q", 1}, {"r", 0.25}};
  onPlatforms.profile.origins.platforms = {{"q", {Origin::kMeasured}}, {"r", {Origin::kInferred, 12}}};
  EXPECT_EQ(std::get<StoredProfile>(stored(onPlatforms)), onPlatforms);
  StoredProfile lowered = profile;
  lowered.history = {{WallTime(Duration(7)), Resource::kTlb, 80, 75, 40, 0.7}};
  EXPECT_EQ(std::get<StoredProfile>(stored(lowered)), lowered);
  const Profiling failed{.application = "sort",
                         .job = job().id,
                         .user = "alice",
                         .at = WallTime(Duration(7)),
                         .problem = "the command fails"};
  EXPECT_EQ(std::get<Profiling>(stored(failed)), failed);
  ObservedProfile observed{.application = "sort", .user = "alice", .last = WallTime(Duration(7))};
  observed.caused[2] = {3, 20.5, 1.5};
  EXPECT_EQ(std::get<ObservedProfile>(stored(observed)), observed);
  const Cron cron{
      .spec = {.id = job().id, .name = "nightly", .schedule = "@daily", .zone = "UTC", .job = job().spec},
      .user = "alice",
      .lastJob = CronRun{.job = job().id, .number = 7},
      .runs = {{.reason = "missed"}}};
  EXPECT_EQ(std::get<Cron>(stored(cron)), cron);
  const MemberRecord member{.role = MemberRole::kAgent,
                            .name = "a1",
                            .invitation = Invitation{.word = {1}, .until = WallTime(Duration(7))},
                            .certificates = {{5, WallTime(Duration(1)), WallTime(Duration(2)), true}}};
  EXPECT_EQ(std::get<MemberRecord>(stored(member)), member);
  const UserRecord user{.name = "ann",
                        .account = "physics",
                        .role = Role::kRead,
                        .runAs = {"ann", "nobody"},
                        .changedBy = "oscar"};
  EXPECT_EQ(std::get<UserRecord>(stored(user)), user);
  AccountRecord account{.name = "physics", .shares = 3, .changedBy = "oscar"};
  EXPECT_EQ(std::get<AccountRecord>(stored(account)), account);
  account.bounds = {.runningUnits = 4,
                    .waitingTasks = 0,
                    .specificationBytes = uint64_t{5} << 30,
                    .highestPriority = 0,
                    .mayOptOut = false};
  EXPECT_EQ(std::get<AccountRecord>(stored(account)), account);
  const TokenRecord token{.id = 7,
                          .digest = {1, 2, 3},
                          .user = "ann",
                          .role = Role::kOperate,
                          .runAs = {"ann"},
                          .made = WallTime(Duration(1)),
                          .until = WallTime(Duration(2)),
                          .madeBy = "oscar"};
  EXPECT_EQ(std::get<TokenRecord>(stored(token)), token);
  SecretRecord secret{.owner = "ann", .name = "db", .grants = {{"bob", "etl"}, {"", "x"}}, .version = 3};
  secret.value = {.key = "k", .nonce = {1, 2, 3}, .bytes = std::string("\0sealed", 7)};
  secret.changed = WallTime(Duration(4));
  EXPECT_EQ(std::get<SecretRecord>(stored(secret)), secret);
}

TEST(StoredRecords, HoldLinesOfTheAuditLogAsTheyAre) {
  const AuditRecord audit{uint64_t{1} << 40, std::string("{\"sequence\":1}\n\0\xff", 18)};
  EXPECT_EQ(std::get<AuditRecord>(stored(audit)), audit);
}

TEST(StoredRecords, OfFormat1AreRead) {
  EXPECT_EQ(ofFormat1("job", job()), job());
  EXPECT_EQ(ofFormat1("task", task()), task());
  EXPECT_EQ(ofFormat1("server", server()), server());
}

}  // namespace tarcil::store_codec_test
