// What goes onto the wire comes back as it was, and what a peer has not set reads as a default.
#include "schema/convert.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

namespace tarcil::convert_test {

// The value, written and read.
template <typename Wire, typename Value>
Value sent(const Value& value) {
  capnp::MallocMessageBuilder message;
  write(value, message.initRoot<Wire>());
  return read(message.getRoot<Wire>().asReader());
}

JobSpec spec() {
  JobSpec spec;
  spec.name = "train";
  spec.tasks = 3;
  spec.policy = Policy::kBatch;
  spec.atMostOnce = true;
  spec.hold = true;
  spec.limits.diskBytesPerSecond = 1 << 20;
  spec.limits.networkBytesPerSecond = 1 << 21;
  spec.limits.diskBytes = 1 << 22;
  spec.container = {"/images/debian", "/bundles/x", Container::Network::kOwn};
  spec.performance = {Metric::kInstructions, 1.2e9, 0.25, std::chrono::seconds(3)};
  spec.adjust = {4, true};
  spec.extras = {{"gpus", 2}, {"tapes", kMaxExtra}};
  spec.placement.pack = Domain::kRack;
  spec.placement.spread = Domain::kServer;
  spec.placement.prefer = {"s9"};
  spec.placement.preferOfTask = {{0, {"s1"}}, {2, {"s2", "s3"}}};
  spec.placement.requireOfTask = {{1, {{"server", Constraint::Operator::kIn, {"s1", "s2"}}}},
                                  {2, {{"gpu", Constraint::Operator::kExists, {}}}}};
  return spec;
}

TEST(Convert, KeepsAJob) {
  EXPECT_EQ(sent<wire::JobSpec>(spec()), spec());
  EXPECT_EQ(sent<wire::JobSpec>(JobSpec{}), JobSpec{});
}

// As a program wrote it that knew no origins of platforms, but for `origin` and `error`.
Profile platformOf(uint8_t origin, uint8_t error) {
  capnp::MallocMessageBuilder message;
  auto profile = message.initRoot<wire::Profile>();
  write(Profile{}, profile);
  auto platform = profile.initPlatforms(1)[0];
  platform.setPlatform("p");
  platform.setFactor(0.5);
  platform.setOrigin(origin);
  platform.setError(error);
  return read(profile.asReader());
}

TEST(Convert, TakesPlatformsAsStatedUnlessTheirOriginIsThere) {
  EXPECT_EQ(platformOf(0, 0).platforms.at("p"), 0.5);
  EXPECT_TRUE(platformOf(0, 0).origins.platforms.empty());
  EXPECT_EQ(platformOf(2, 5).origins.ofPlatform("p"), (EntryOrigin{Origin::kInferred, 5}));
  EXPECT_THROW(platformOf(5, 0), kj::Exception);
  EXPECT_THROW(platformOf(2, 100), kj::Exception);
}

TEST(Convert, KeepsEveryPolicyAndWayOfPacking) {
  JobSpec job;
  for (Policy policy : {Policy::kQuality, Policy::kGreedy, Policy::kRandom, Policy::kPerTask, Policy::kBatch,
                        Policy::kLateBinding}) {
    job.policy = policy;
    EXPECT_EQ(sent<wire::JobSpec>(job), job);
  }
  for (const std::string_view pack :
       {Domain::kNone, Domain::kServer, Domain::kRack, std::string_view("zone")}) {
    job.placement.pack = pack;
    EXPECT_EQ(sent<wire::JobSpec>(job), job);
  }
}

TEST(Convert, NamesWhatTheWireNames) {
  capnp::MallocMessageBuilder message;
  auto job = message.initRoot<wire::JobSpec>();
  write(spec(), job);
  EXPECT_EQ(job.getPolicy(), wire::Policy::BATCH);
  EXPECT_EQ(job.getPack(), wire::Pack::RACK);
}

JobPlan aPlan(size_t candidates) {
  JobPlan plan;
  plan.claims.resize(2);
  plan.claims[1].task = 1;
  plan.claims[1].server = 3;
  plan.claims[1].rus = 2;
  plan.claims[1].preferred = {0, 5};
  plan.explanation.best.resize(candidates);
  for (size_t i = 0; i < candidates; ++i) plan.explanation.best[i].server = static_cast<ServerId>(i);
  plan.explanation.seed = UINT64_MAX;
  plan.waitReason = "no free unit";
  plan.servers = {{3, "s3", "haswell"}};
  plan.usableUnits = 12;
  plan.freeUnits = 4;
  return plan;
}

TEST(Convert, KeepsAPlanWithMoreCandidatesThanADecisionHas) {
  EXPECT_EQ(sent<wire::Plan>(aPlan(JobPlan::kMaxCandidates)), aPlan(JobPlan::kMaxCandidates));
  EXPECT_EQ(sent<wire::Plan>(JobPlan{}), JobPlan{});
}

TEST(Convert, RefusesMoreCandidatesThanThereMayBe) {
  EXPECT_ANY_THROW(sent<wire::Plan>(aPlan(JobPlan::kMaxCandidates + 1)));
  Explanation stored = aPlan(Explanation::kMaxCandidates).explanation;
  EXPECT_EQ(sent<wire::Explanation>(stored), stored);
  stored.best.resize(Explanation::kMaxCandidates + 1);
  EXPECT_ANY_THROW(sent<wire::Explanation>(stored));
}

TEST(Convert, KeepsAServer) {
  ServerUpdate update;
  update.id = 7;
  update.facts = ServerFacts{};
  update.facts->name = "s1";
  update.facts->rus = 4;
  update.facts->extras = {{"gpus", 100}, {"tapes", 1}};
  update.status.freeExtras = allExtras(update.facts->extras);
  takeExtras(update.status.freeExtras, {{"gpus", {0, 64}}, {"tapes", {0}}});
  EXPECT_EQ(sent<wire::ServerUpdate>(update), update);
}

TEST(Convert, KeepsWhatATaskHolds) {
  const ExtraNumbers held = {{"gpus", {0, 3}}, {"tapes", {4095}}};
  TaskRecord task;
  task.extras = held;
  EXPECT_EQ(sent<wire::TaskRecord>(task), task);

  JobAssignment assignment;
  assignment.job.spec = spec();
  assignment.tasks.emplace_back();
  assignment.tasks.back().extras = held;
  EXPECT_EQ(sent<wire::JobAssignment>(assignment), assignment);

  CommitAnswer answer;
  answer.grants = {{Verdict::kGranted, 5, {1}, held}, {Verdict::kNoExtras}};
  EXPECT_EQ(sent<wire::CommitAnswer>(answer), answer);

  LaunchSpec launch;
  launch.extras = held;
  EXPECT_EQ(sent<wire::LaunchSpec>(launch), launch);
  launch.container.rootfs = "/images/debian";
  launch.container.image = "docker://debian";
  launch.container.imageDigest = "sha256:1";
  launch.performance = PerformanceGoal{};
  launch.caused[3] = 70;
  launch.tolerated[9] = 20;
  launch.limits.networkBytesPerSecond = 5;
  launch.limits.diskBytes = 6;
  launch.gang = GangHosts{};
  EXPECT_EQ(sent<wire::LaunchSpec>(launch), launch);
  launch.gang = GangHosts{"a,,a", "a slots=2\n"};
  EXPECT_EQ(sent<wire::LaunchSpec>(launch), launch);
}

TEST(Convert, ReadsALaunchThatAnOlderVersionRecorded) {
  capnp::MallocMessageBuilder message;
  const JobId none{};
  message.initRoot<wire::LaunchSpec>().setJob(bytesOf(none));
  const LaunchSpec launch = read(message.getRoot<wire::LaunchSpec>().asReader());
  EXPECT_EQ(launch.caused, Pressure{});
  EXPECT_EQ(launch.gang, std::nullopt);
}

TEST(Convert, RefusesHostsOfAGangBeyondTheirBound) {
  LaunchSpec launch;
  launch.gang = GangHosts{std::string(kMaxGangHostsBytes, 'a'), std::string(kMaxGangHostsBytes, 'b')};
  EXPECT_EQ(sent<wire::LaunchSpec>(launch), launch);
  for (std::string* text : {&launch.gang->list, &launch.gang->file}) {
    text->push_back('c');
    EXPECT_THROW(sent<wire::LaunchSpec>(launch), kj::Exception);
    text->pop_back();
  }
}

TEST(Convert, RefusesExtrasThatNobodyMayAskFor) {
  const auto refuses = [](const Extras& extras) {
    JobSpec job;
    job.extras = extras;
    EXPECT_THROW(sent<wire::JobSpec>(job), kj::Exception);
  };
  refuses({{"", 1}});
  refuses({{"gpus", 0}});
  refuses({{"gpus", kMaxExtra + 1}});
  Extras many;
  for (size_t i = 0; i <= kMaxExtraKinds; ++i) many["kind" + std::to_string(i)] = 1;
  refuses(many);
}

}  // namespace tarcil::convert_test
