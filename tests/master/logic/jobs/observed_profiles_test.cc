// What each user's runs of an application are measured to cause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/master/master_harness.h"

namespace tarcil::observed_profiles_test {

using namespace master;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;

constexpr auto kDisk = static_cast<size_t>(Resource::kDiskBandwidth);
constexpr auto kCore = static_cast<size_t>(Resource::kCore);

struct ObservedRuns : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 4)});
  SessionId agent = master.attachAgent("x");
  int jobs = 0;

  static JobSpec job(const std::string& application) {
    JobSpec asked = spec();
    asked.profile = causing(Resource::kDiskBandwidth, 20);
    asked.profile.application = application;
    return asked;
  }
  AllocationId begin(const JobSpec& asked, const std::string& user = "alice") {
    Commit commit = newJob(++jobs, asked);
    commit.newJob->record.user = user;
    commit.claims = {claim(0, 0)};
    const AllocationId task = master.place(agent, commit);
    master.started(monitor, task);
    return task;
  }
  void measure(AllocationId task, uint8_t disk) {
    TaskPressure pressure{task, {}, {}};
    pressure.caused[kDisk] = disk;
    pressure.measured.set(kDisk);
    master.handle(PressureReported{monitor, {{"a", {}, {}, {pressure}}}});
  }
  void run(uint8_t disk, const JobSpec& asked = job("sort"), const std::string& user = "alice") {
    const AllocationId task = begin(asked, user);
    measure(task, disk);
    master.ended(monitor, task, exitedWith(0));
  }
  void runWatched(double reached, Metric metric = Metric::kReported) {
    JobSpec watched = job("sort");
    watched.performance = PerformanceGoal{.metric = metric};
    master.ended(monitor, begin(watched), exitedWith(0), reached);
  }
  Status promote(const Caller& caller, const std::string& user = "") {
    return only<Answer>(master.handle(ProfilePromoted{1, caller, "sort", user})).at(0).status;
  }
  const ObservedProfile* observed(const std::string& user = "alice") {
    return master.logic().observed("sort", user);
  }
};

TEST_F(ObservedRuns, CountTheMostThatEachWasChargedForAndOutliveTheMaster) {
  const AllocationId task = begin(job("sort"));
  measure(task, 10);
  measure(task, 70);
  measure(task, 30);
  EXPECT_EQ(observed(), nullptr) << "it still runs";
  master.ended(monitor, task, exitedWith(1));
  ASSERT_NE(observed(), nullptr);
  EXPECT_EQ(observed()->caused[kDisk], (Observation{1, 70, 0}));
  EXPECT_EQ(observed()->caused[kCore], Observation()) << "that was not measured";
  EXPECT_EQ(observed()->last, master.now().wall);
  run(50);
  const ObservedProfile before = *observed();
  EXPECT_EQ(before.runs(), 2u);
  EXPECT_EQ(before.caused[kDisk].mean, 60);
  master.restart();
  EXPECT_EQ(*observed(), before);
}

TEST_F(ObservedRuns, AreEachUsersOwn) {
  run(90, job("sort"), "bob");
  EXPECT_EQ(observed("alice"), nullptr);
  EXPECT_NE(observed("bob"), nullptr);
  EXPECT_THAT(master.logic().observed(), SizeIs(1));
}

TEST_F(ObservedRuns, AreOfApplicationsAndMeasuredOnes) {
  run(50, job(""));
  const AllocationId unmeasured = begin(job("sort"));
  master.ended(monitor, unmeasured, exitedWith(0));
  EXPECT_THAT(master.logic().observed(), SizeIs(0));
}

TEST_F(ObservedRuns, CountWhatCouldNotBeReadAnyMoreAtTheEnd) {
  const AllocationId task = begin(job("sort"));
  measure(task, 70);
  master.handle(PressureReported{monitor, {{"a", {}, {}, {TaskPressure{task, {}, {}}}}}});
  master.ended(monitor, task, exitedWith(0));
  ASSERT_NE(observed(), nullptr);
  EXPECT_EQ(observed()->caused[kDisk], (Observation{1, 70, 0}));
}

TEST_F(ObservedRuns, CountForAllOnceTheyArePromoted) {
  master.handle(ProfileStored{1, theOperator(), job("sort").profile, ""});
  run(60);
  run(60);
  EXPECT_EQ(promote(theOperator(), "alice").error().code, ErrorCode::kNotFound) << "too few runs";
  run(60);
  EXPECT_EQ(promote(user("bob"), "alice").error().code, ErrorCode::kDenied);
  EXPECT_EQ(master.logic().profile("sort", "alice")->profile.caused[kDisk], 20);
  ASSERT_TRUE(promote(theOperator(), "alice").ok());
  const StoredProfile& stored = *master.logic().profile("sort", "alice");
  EXPECT_EQ(stored.profile.caused[kDisk], 60);
  EXPECT_EQ(stored.profile.origins.caused[kDisk].origin, Origin::kObserved);
  EXPECT_EQ(stored.revision, 2u);
  EXPECT_THAT(stored.note, HasSubstr("3 runs by user alice"));
  EXPECT_EQ(observed(), nullptr) << "they are counted anew";
}

TEST_F(ObservedRuns, BecomePartOfAUsersOwnProfileByThemselves) {
  master.handle(ProfileStored{1, theOperator(), job("sort").profile, ""});
  for (int i = 0; i < 3; ++i) run(60);
  ASSERT_TRUE(promote(user("alice")).ok());
  EXPECT_EQ(master.logic().profile("sort", "alice")->profile.caused[kDisk], 60);
  EXPECT_EQ(master.logic().profile("sort", "bob")->profile.caused[kDisk], 20) << "that for all is as it was";
}

TEST_F(ObservedRuns, MakeAProfileWhereThereIsNone) {
  for (int i = 0; i < 3; ++i) run(60);
  ASSERT_TRUE(promote(user("alice")).ok());
  EXPECT_EQ(master.logic().profile("sort", "alice")->user, "alice");
  EXPECT_EQ(master.logic().profile("sort", "alice")->profile.tolerated[kDisk], kMaxPressure - 60);
}

TEST_F(ObservedRuns, SayHowWellTasksPerformOnAPlatform) {
  runWatched(100);
  runWatched(110);
  runWatched(2, Metric::kCpuTime);
  ASSERT_NE(observed(), nullptr);
  ASSERT_THAT(observed()->performances, SizeIs(2));
  const ObservedPerformance& reported = observed()->performances[0];
  EXPECT_EQ(reported.platform, serverFacts("a", 4).platform);
  EXPECT_EQ(reported.rus, 1u);
  EXPECT_EQ(reported.reached.runs, 2u);
  EXPECT_EQ(reported.reached.mean, 105);
  EXPECT_EQ(observed()->performances[1].metric, Metric::kCpuTime);
  const ObservedProfile before = *observed();
  master.restart();
  EXPECT_EQ(*observed(), before);
}

TEST_F(ObservedRuns, PerformAsIfNothingWereSaidWhereTheNumberMakesNoSense) {
  for (const double reached : {std::nan(""), std::numeric_limits<double>::infinity(), -1.0})
    runWatched(reached);
  const AllocationId unwatched = begin(job("sort"));
  master.ended(monitor, unwatched, exitedWith(0), 100);
  EXPECT_EQ(observed(), nullptr);
}

TEST_F(ObservedRuns, PerformForTheirUserAloneAlsoOnceTheRestIsPromoted) {
  for (int i = 0; i < 3; ++i) run(60);
  runWatched(100);
  ASSERT_TRUE(promote(user("alice")).ok());
  ASSERT_NE(observed(), nullptr);
  EXPECT_THAT(observed()->performances, SizeIs(1));
  EXPECT_EQ(observed()->caused[kDisk], Observation()) << "counted anew";
  EXPECT_EQ(observed("bob"), nullptr);
}

TEST_F(ObservedRuns, AreForgottenWithTheProfile) {
  const auto erase = [&](const Caller& caller) {
    return only<Answer>(master.handle(ProfileDeleted{1, caller, "sort"})).at(0).status;
  };
  master.handle(ProfileStored{1, theOperator(), job("sort").profile, ""});
  run(60);
  EXPECT_TRUE(erase(user("alice")).ok()) << "her own runs";
  EXPECT_EQ(observed(), nullptr);
  EXPECT_NE(master.logic().profile("sort", "alice"), nullptr) << "the operator's stays";
  EXPECT_EQ(erase(user("alice")).error().code, ErrorCode::kDenied);
  run(60);
  master.handle(ProfileDeleted{1, theOperator(), "sort"});
  EXPECT_TRUE(erase(user("alice")).ok());
  EXPECT_EQ(erase(user("alice")).error().code, ErrorCode::kNotFound);
}

TEST_F(ObservedRuns, OfOneUserAreBounded) {
  for (size_t i = 0; i <= kMaxObservedProfilesOfUser; ++i) {
    master.pass(1s);
    run(60, job("app" + std::to_string(i)));
  }
  EXPECT_THAT(master.logic().observed(), SizeIs(kMaxObservedProfilesOfUser));
  EXPECT_EQ(master.logic().observed("app0", "alice"), nullptr) << "observed longest ago";
  EXPECT_NE(master.logic().observed("app1", "alice"), nullptr);
  run(60, job("sort"), "bob");
  EXPECT_NE(observed("bob"), nullptr) << "others are not in the way";
}

}  // namespace tarcil::observed_profiles_test
