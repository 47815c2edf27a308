// Neighbours of a degraded task that are throttled.
#include "master/logic/health/throttling.h"

#include "tests/master/logic/health/degraded_tasks.h"
#include "tests/support/builders.h"

namespace tarcil::master::throttling_test {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kCore = static_cast<size_t>(Resource::kCore);

struct ThrottledNeighbours : DegradedTasks {
  static JobSpec yielding() {
    JobSpec job = spec(1, 1);
    job.name = "hog";
    job.yields = true;
    return job;
  }
  static JobSpec preemptible(uint8_t priority) {
    JobSpec job = spec(1, 1);
    job.preemptible = true;
    job.priority = priority;
    return job;
  }
  static Violation slowedDownBy(AllocationId neighbour, AllocationId suffering, double reached = 0.5,
                                Resource resource = Resource::kCore) {
    Violation violation = DegradedTasks::violation(suffering, Cause::Kind::kNeighbour);
    violation.measured = reached * violation.expected;
    violation.causes.front().resource = resource;
    violation.causes.front().neighbour = neighbour;
    return violation;
  }
  void set(Throttling throttling) {
    QualitySettings settings;
    settings.throttling = throttling;
    master.handle(SettingsSet{1, settings});
  }
  static std::vector<Throttle> throttles(const std::vector<Action>& actions) {
    std::vector<Throttle> all;
    for (const ThrottleTask& each : only<ThrottleTask>(actions)) all.push_back(each.throttle);
    return all;
  }

  AllocationId service = run(1, watched(0, true));
};

TEST_F(ThrottledNeighbours, AreThrottledAtOnceAndTheServerIsClosed) {
  const AllocationId hog = run(2, yielding());
  const auto asked = only<ThrottleTask>(tell(slowedDownBy(hog, service)));
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked[0].session, monitor);
  EXPECT_EQ(asked[0].allocation, hog);
  EXPECT_EQ(asked[0].throttle, (Throttle{.cpu = 0.02, .disk = 1}));
  EXPECT_TRUE(view("a").autoCordoned);
  EXPECT_THAT(steps(2), ElementsAre(AllOf(HasSubstr("throttled to 2% of the time of their cores"),
                                          HasSubstr("slows down task 0 of"))));
  EXPECT_THAT(steps(1).back(), AllOf(HasSubstr("throttled hog"), HasSubstr("performs at 50%")));
  EXPECT_THAT(only<StopTask>(master.pass(9s)), IsEmpty()) << "this is given time to help";
}

TEST_F(ThrottledNeighbours, OfATaskThatIsHardlySlowedDownLoseLessAtFirst) {
  const AllocationId hog = run(2, yielding());
  EXPECT_THAT(throttles(tell(slowedDownBy(hog, service, 0.85))), ElementsAre(Throttle{.cpu = 0.25}));
  EXPECT_THAT(throttles(master.pass(10s)), ElementsAre(Throttle{.cpu = 0.0625}));
}

TEST_F(ThrottledNeighbours, MayUseTheirCoresAndLessOfTheDisksWhereThatIsTheCause) {
  const AllocationId hog = run(2, yielding());
  EXPECT_THAT(throttles(tell(slowedDownBy(hog, service, 0.5, Resource::kDiskBandwidth))),
              ElementsAre(Throttle{.disk = 0.02}));
}

struct Limit {
  Resource resource;
  double Throttle::*share;
  const char* name;
  const char* says;
};

struct ThrottledByTheirServer : ThrottledNeighbours, testing::WithParamInterface<Limit> {
  std::vector<Throttle> throttled(std::vector<std::string> missing) {
    ServerFacts facts = serverFacts("a", 4);
    facts.missing = std::move(missing);
    master.detach(monitor);
    monitor = master.attachMonitor("m", {facts, serverFacts("b", 4)}, {{service, "a"}});
    return throttles(tell(slowedDownBy(run(2, yielding()), service, 0.5, GetParam().resource)));
  }
};

TEST_P(ThrottledByTheirServer, LoseWhatTheyPressOn) {
  Throttle expected;
  expected.*GetParam().share = kLeastShare;
  EXPECT_THAT(throttled({}), ElementsAre(expected));
  EXPECT_THAT(steps(2).back(), HasSubstr(GetParam().says));
}

TEST_P(ThrottledByTheirServer, LoseTheTimeOfTheirCoresWhereItCannotLimitThat) {
  EXPECT_THAT(throttled({"perf", GetParam().name}), ElementsAre(Throttle{.cpu = kLeastShare}));
  EXPECT_THAT(steps(2).back(), HasSubstr("time of their cores"));
}

INSTANTIATE_TEST_SUITE_P(
    Limits, ThrottledByTheirServer,
    testing::Values(Limit{Resource::kDiskBandwidth, &Throttle::disk, kDiskLimit, "disk traffic"},
                    Limit{Resource::kNetworkBandwidth, &Throttle::network, kNetworkLimit, "network traffic"},
                    Limit{Resource::kLlc, &Throttle::cacheWays, kCacheLimit, "last-level cache"},
                    Limit{Resource::kMemoryBandwidth, &Throttle::memoryBandwidth, kMemoryBandwidthLimit,
                          "memory bandwidth"}),
    [](const testing::TestParamInfo<Limit>& info) {
      return std::string(kResourceNames[static_cast<size_t>(info.param.resource)]);
    });

TEST_F(ThrottledNeighbours, AreAllTasksOfThatJobOnTheServer) {
  JobSpec many = yielding();
  many.tasks = 2;
  Commit commit = newJob(2, many);
  commit.claims = {claim(0, 0), claim(1, 0)};
  const std::vector<Grant> placed = master.commit(agent, commit).grants;
  ASSERT_THAT(placed, SizeIs(2));
  for (const Grant& each : placed) master.started(monitor, each.allocation);
  EXPECT_THAT(throttles(tell(slowedDownBy(placed[0].allocation, service))), SizeIs(2));
}

TEST_F(ThrottledNeighbours, AreOnlyThoseOfJobsThatAllowIt) {
  const AllocationId deaf = run(2, spec(1, 1)), equal = run(3, preemptible(50));
  EXPECT_THAT(throttles(tell(slowedDownBy(deaf, service))), IsEmpty());
  EXPECT_THAT(throttles(tell(slowedDownBy(equal, service))), IsEmpty());
  tell(over(service));
  const AllocationId lower = run(4, preemptible(49), 1);
  tell(slowedDownBy(lower, service));
  EXPECT_THAT(throttles(master.lastActions()), IsEmpty()) << "it is not on that server";
}

TEST_F(ThrottledNeighbours, ArePreemptibleOnesOfLowerPriorityToo) {
  const AllocationId lower = run(2, preemptible(49));
  EXPECT_THAT(throttles(tell(slowedDownBy(lower, service))), SizeIs(1));
}

TEST_F(ThrottledNeighbours, AreNotThoseThatHardlyMatter) {
  Violation violation = slowedDownBy(run(2, yielding()), service);
  violation.causes.front().weight = 0.1;
  EXPECT_THAT(throttles(tell(violation)), IsEmpty());
}

TEST_F(ThrottledNeighbours, AreOnlySaidWhereAPreviewIsWanted) {
  set(Throttling::kPreview);
  const AllocationId hog = run(2, yielding());
  EXPECT_THAT(throttles(tell(slowedDownBy(hog, service))), IsEmpty());
  EXPECT_THAT(steps(2), ElementsAre(HasSubstr("preview: would be throttled to 2%")));
  tell(slowedDownBy(hog, service));
  EXPECT_THAT(steps(2), SizeIs(1)) << "once";
}

TEST_F(ThrottledNeighbours, AreNoneWhereTheOperatorSaysSo) {
  set(Throttling::kOff);
  const AllocationId hog = run(2, yielding());
  EXPECT_THAT(throttles(tell(slowedDownBy(hog, service))), IsEmpty());
  EXPECT_THAT(steps(2), IsEmpty());
}

TEST_F(ThrottledNeighbours, AreEasedInStepsWhenAllIsWell) {
  const AllocationId hog = run(2, yielding());
  tell(slowedDownBy(hog, service));
  master.pass(9s);
  tell(over(service));
  std::vector<double> shares;
  for (int minute = 0; minute < 8; ++minute) {
    for (const Throttle& each : throttles(master.pass(1min))) shares.push_back(each.cpu);
  }
  EXPECT_THAT(shares, ElementsAre(0.04, 0.08, 0.16, 0.32, 0.64, 1.0));
  EXPECT_EQ(steps(2).back(), "throttled no more");
}

TEST_F(ThrottledNeighbours, StayThrottledWhileATaskThereFallsShort) {
  const AllocationId hog = run(2, yielding());
  tell(slowedDownBy(hog, service));
  EXPECT_THAT(throttles(master.pass(59s)), IsEmpty());
  EXPECT_THAT(throttles(master.pass(5min)), IsEmpty());
}

TEST_F(ThrottledNeighbours, StayThrottledForTwiceAsLongWhenItComesBack) {
  const AllocationId hog = run(2, yielding());
  tell(slowedDownBy(hog, service));
  tell(over(service));
  EXPECT_THAT(throttles(master.pass(1min)), ElementsAre(Throttle{.cpu = 0.04}));
  EXPECT_THAT(throttles(tell(slowedDownBy(hog, service))), ElementsAre(Throttle{.cpu = 0.02}));
  tell(over(service));
  EXPECT_THAT(throttles(master.pass(1min)), IsEmpty());
  EXPECT_THAT(throttles(master.pass(1min)), ElementsAre(Throttle{.cpu = 0.04}));
}

TEST_F(ThrottledNeighbours, AreNotHelpedBecauseTheyFallShort) {
  JobSpec job = yielding();
  job.performance = PerformanceGoal{};
  job.adjust = {2, true};
  const AllocationId hog = run(2, job);
  tell(slowedDownBy(hog, service));
  EXPECT_THAT(only<ResizeTask>(tell(violation(hog, Cause::Kind::kCores))), IsEmpty());
  EXPECT_EQ(master.freeUnits("a"), 2u);
}

TEST_F(ThrottledNeighbours, FromWhichSomethingCannotBeTakenLoseTheTimeOfTheirCores) {
  const AllocationId hog = run(2, yielding());
  const auto refuse = [&](const Throttle& throttle) {
    return throttles(master.handle(
        TaskThrottled{monitor, hog, throttle, Error{ErrorCode::kUnavailable, "its use is not known"}}));
  };
  const auto asked = throttles(tell(slowedDownBy(hog, service, 0.5, Resource::kNetworkBandwidth)));
  ASSERT_THAT(asked, ElementsAre(Throttle{.network = kLeastShare}));
  EXPECT_THAT(refuse(asked[0]), IsEmpty());
  EXPECT_THAT(throttles(master.pass(10s)), ElementsAre(Throttle{.cpu = kLeastShare}));
  // What is refused later leaves that.
  tell(slowedDownBy(hog, service, 0.5, Resource::kDiskBandwidth));
  const Throttle both{.cpu = kLeastShare, .disk = kLeastShare};
  ASSERT_THAT(throttles(master.pass(10s)), ElementsAre(both));
  EXPECT_THAT(refuse(both), ElementsAre(Throttle{.cpu = kLeastShare}));
}

TEST_F(ThrottledNeighbours, ThatCannotBeAreNotAskedAgainAndTheNextStepFollows) {
  const AllocationId hog = run(2, yielding());
  const auto asked = only<ThrottleTask>(tell(slowedDownBy(hog, service)));
  master.handle(
      TaskThrottled{monitor, hog, asked[0].throttle, Error{ErrorCode::kUnavailable, "no controller"}});
  EXPECT_THAT(steps(2).back(), HasSubstr("cannot be throttled: no controller"));
  const auto next = master.pass(10s);
  EXPECT_THAT(throttles(next), IsEmpty());
  EXPECT_THAT(only<StopTask>(next), SizeIs(1)) << "it is moved";
}

TEST_F(ThrottledNeighbours, AreToldAgainToAMonitorThatComesBack) {
  const AllocationId hog = run(2, yielding());
  tell(slowedDownBy(hog, service));
  master.detach(monitor);
  monitor =
      master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)}, {{service, "a"}, {hog, "a"}});
  const auto again = only<ThrottleTask>(master.lastActions());
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].session, monitor);
  EXPECT_EQ(again[0].throttle.cpu, 0.02);
}

TEST_F(ThrottledNeighbours, AreForgottenWithTheirAttempt) {
  const AllocationId hog = run(2, yielding());
  tell(slowedDownBy(hog, service));
  master.ended(monitor, hog, exitedWith(0));
  EXPECT_THAT(throttles(master.pass(5min)), IsEmpty());
}

// What a throttled task would do is what it did.
TEST_F(ThrottledNeighbours, AreChargedForWhatTheyDidBeforeAndTeachNothing) {
  JobSpec job = yielding();
  job.profile.application = "grep";
  const AllocationId hog = run(2, job);
  const auto report = [this, hog](uint8_t core) {
    TaskPressure pressure{hog, {}, {}};
    pressure.caused[kCore] = core;
    pressure.measured.set(kCore);
    master.handle(PressureReported{monitor, {{"a", {}, {}, {pressure}}}});
  };
  report(60);
  tell(slowedDownBy(hog, service));
  report(4);
  EXPECT_EQ(master.status("a").sum[kCore], 60);
  report(70);
  EXPECT_EQ(master.status("a").sum[kCore], 70) << "more is more";
  master.ended(monitor, hog, exitedWith(0));
  EXPECT_EQ(master.logic().observed("grep", "alice"), nullptr);
}

}  // namespace tarcil::master::throttling_test
