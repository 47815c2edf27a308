// Jobs that have not ended get the profile of their application as it is known now.
#include "master/logic/jobs/rejudging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/state/occupancy.h"
#include "master/logic/servers/published_state.h"
#include "tests/master/master_harness.h"

namespace tarcil::rejudging_test {

using namespace master;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kDisk = static_cast<size_t>(Resource::kDiskBandwidth);
constexpr auto kCore = static_cast<size_t>(Resource::kCore);

Profile sort(uint8_t disk, uint8_t tolerated = kMaxPressure) {
  Profile profile = causing(Resource::kDiskBandwidth, disk);
  profile.application = "sort";
  profile.tolerated[kDisk] = tolerated;
  return profile;
}

// Whose profile was looked up.
JobSpec following(const Profile& profile, uint32_t tasks = 1) {
  JobSpec job = spec(tasks);
  job.profile = profile;
  job.profileLookedUp = true;
  return job;
}

struct Rejudging : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 8)});
  SessionId agent = master.attachAgent("x");
  int runs = 1000;

  CommitAnswer queue(int number, const JobSpec& job, const std::string& user = "alice") {
    Commit commit = newJob(number, job);
    commit.newJob->record.user = user;
    return master.commit(agent, commit);
  }
  AllocationId begin(int number, const JobSpec& job, const std::string& user = "alice") {
    Commit commit = newJob(number, job);
    commit.newJob->record.user = user;
    for (TaskIndex task = 0; task < job.tasks; ++task) commit.claims.push_back(claim(task, 0));
    const AllocationId allocation = master.place(agent, commit);
    master.started(monitor, allocation);
    return allocation;
  }
  std::vector<Action> measure(AllocationId task, Resource resource, uint8_t pressure) {
    TaskPressure measured{task, {}, {}};
    measured.caused[static_cast<size_t>(resource)] = pressure;
    measured.measured.set(static_cast<size_t>(resource));
    return master.handle(PressureReported{monitor, {{"a", {}, {}, {measured}}}});
  }
  // So many runs of "sort" by the user that are measured to cause this.
  void run(uint8_t disk, int times = kRunsToBelieve, const std::string& user = "alice") {
    for (int i = 0; i < times; ++i) {
      JobSpec job = spec();
      job.profile = sort(20);
      const AllocationId task = begin(++runs, job, user);
      measure(task, Resource::kDiskBandwidth, disk);
      master.ended(monitor, task, exitedWith(0));
    }
  }
  void store(const Profile& profile, const Caller& caller = theOperator()) {
    ASSERT_TRUE(only<Answer>(master.handle(ProfileStored{1, caller, profile, ""})).at(0).status.ok());
  }
  std::vector<Action> judge() { return master.pass(0s); }
  static std::vector<JobId> offered(const std::vector<Action>& actions) {
    std::vector<JobId> jobs;
    for (const OfferJobs& offers : only<OfferJobs>(actions)) {
      for (const JobOffer& offer : offers.jobs) jobs.push_back(offer.job);
    }
    return jobs;
  }

  const Profile& profileOf(int number) {
    shown = master.job(number).record;
    return shown.spec.profile;
  }
  int causedBy(int number) { return profileOf(number).caused[kDisk]; }
  // What placement takes its task to cause.
  int charged(size_t resource = kDisk) { return master.status("a").sum[resource]; }
  // As the tasks of the server make it, from scratch.
  ServerStatus fromScratch() {
    const ServerView server = *master.logic().server("a");
    std::vector<Resident> residents;
    for (const auto& task : server.tasks) {
      residents.push_back({task.allocation, task.rus, task.charged, task.profile.tolerated, task.extras});
    }
    ServerStatus status = server.status;
    rebuild(status, residents, server.facts, fullShare());
    return status;
  }

  JobRecord shown;
};

TEST_F(Rejudging, AJobThatWaitsIsPlacedByWhatItsUsersRunsTaught) {
  queue(1, following(sort(20)));
  run(70);
  const auto actions = judge();
  const auto news = only<AssignJob>(actions);
  ASSERT_THAT(news, SizeIs(1)) << "its agent decides by it";
  EXPECT_EQ(news[0].assignment.job.spec.profile.caused[kDisk], 70);
  EXPECT_EQ(news[0].assignment.job.spec.profile.origins.caused[kDisk].origin, Origin::kObserved);
  EXPECT_THAT(news[0].assignment.waiting, ElementsAre(TaskRange{0, 0}));
  Commit commit = moreFor(1);
  commit.claims = {claim(0, 0)};
  master.place(agent, commit);
  EXPECT_EQ(charged(), 70);
  EXPECT_EQ(shown.profileReplaced, kNever);
  EXPECT_EQ(master.job(1).record.profileReplaced, master.now().wall);
}

TEST_F(Rejudging, ATaskThatRunsIsJudgedByItWhereItIsNotMeasured) {
  store(sort(20));
  const AllocationId task = begin(1, following(sort(20)));
  measure(task, Resource::kDiskBandwidth, 50);
  Profile learned = sort(35, 40);
  learned.caused[kCore] = 10;
  store(learned);
  const auto published = only<PublishServer>(judge());
  ASSERT_THAT(published, SizeIs(1)) << "agents hear of it";
  EXPECT_EQ(charged(kDisk), 50) << "what is measured stays";
  EXPECT_EQ(charged(kCore), 10);
  EXPECT_EQ(master.status("a").bound[kDisk], 40 + 50);
  EXPECT_EQ(published[0].update.status, master.status("a"));
  EXPECT_EQ(master.status("a"), fromScratch());
  measure(task, Resource::kDiskBandwidth, 60);
  EXPECT_EQ(charged(kCore), 10) << "nor does the next measurement bring the old one back";
  EXPECT_EQ(master.status("a"), fromScratch());
}

TEST_F(Rejudging, NeighboursMayDoToItWhatALessonLeaves) {
  store(sort(0, 60));
  begin(1, following(sort(0, 60)));
  store(sort(0, 30));
  judge();
  JobSpec loud = spec();
  loud.profile = causing(Resource::kDiskBandwidth, 50);
  Commit commit = newJob(2, loud);
  commit.claims = {claim(0, 0)};
  commit.claims[0].versionSeen = 0;
  commit.judging.protectNeighbours = true;
  const CommitAnswer answer = master.commit(agent, commit);
  ASSERT_THAT(answer.grants, SizeIs(1));
  EXPECT_EQ(answer.grants[0].verdict, Verdict::kBreaksNeighbour);
}

TEST_F(Rejudging, AProfileThatItsUserWroteStaysAsItIs) {
  JobSpec typed = following(sort(20));
  typed.profileLookedUp = false;
  queue(1, typed);
  begin(2, typed);
  run(70);
  store(sort(90, 10));
  judge();
  EXPECT_EQ(profileOf(1), sort(20));
  EXPECT_EQ(profileOf(2), sort(20));
  EXPECT_EQ(charged(), 20);
}

TEST_F(Rejudging, OneUsersRunsChangeNobodyElsesJobsAndAStoredProfileThoseOfAll) {
  queue(1, following(sort(20)), "bob");
  JobSpec other = following(sort(20));
  other.profile.application = "sorted";
  queue(2, other);
  run(70);
  judge();
  EXPECT_EQ(causedBy(1), 20);
  ASSERT_TRUE(
      only<Answer>(master.handle(ProfilePromoted{1, theOperator(), "sort", "alice"})).at(0).status.ok());
  judge();
  EXPECT_EQ(causedBy(1), 70);
  EXPECT_EQ(causedBy(2), 20) << "another application";
}

TEST_F(Rejudging, AVersionWithoutAProfileOfItsOwnFollowsTheApplications) {
  for (const char* version : {"sort@1", "sort@2"}) {
    JobSpec job = following(sort(20));
    job.profile.application = version;
    queue(version[5] - '0', job);
  }
  Profile own = sort(50);
  own.application = "sort@2";
  store(own);
  store(sort(70));
  judge();
  EXPECT_EQ(causedBy(1), 70);
  EXPECT_EQ(profileOf(1).application, "sort@1") << "its runs go on counting for that";
  EXPECT_EQ(causedBy(2), 50);
}

TEST_F(Rejudging, LittleDifferencesAreNoNews) {
  store(sort(20, 50));
  queue(1, following(sort(20, 50)));
  Profile nearly = sort(20 + kPointsThatMatter - 1, 50 - kPointsThatMatter + 1);
  nearly.platforms = {{"p", 0.98}};
  store(nearly);
  judge();
  EXPECT_EQ(profileOf(1), sort(20, 50));
  nearly.platforms = {{"p", 0.97}};
  store(nearly);
  judge();
  EXPECT_EQ(profileOf(1), nearly);
}

TEST_F(Rejudging, AJobChangesOnceInAnInterval) {
  store(sort(20));
  queue(1, following(sort(20)));
  store(sort(40));
  judge();
  store(sort(60));
  store(sort(80));
  master.pass(kRejudgingInterval - 1s);
  EXPECT_EQ(causedBy(1), 40);
  master.pass(1s);
  EXPECT_EQ(causedBy(1), 80);
}

TEST_F(Rejudging, AJobThatIsSubmittedWithWhatWasKnownBeforeIsJudgedToo) {
  store(sort(40));
  queue(1, following(sort(20)));
  judge();
  EXPECT_EQ(causedBy(1), 40);
}

TEST_F(Rejudging, WhatWasAssumedEndsWithTheMeasurement) {
  Profile guess = sort(50, 49);
  guess.isAssumed = true;
  guess.origins = ProfileOrigins::all(Origin::kAssumed);
  queue(1, following(guess));
  run(70);
  judge();
  EXPECT_EQ(causedBy(1), 70);
  EXPECT_EQ(profileOf(1).tolerated[kDisk], 49) << "of which runs say nothing";
  EXPECT_TRUE(profileOf(1).isAssumed);
  store(sort(70, 49));
  master.pass(kRejudgingInterval);
  EXPECT_FALSE(profileOf(1).isAssumed);
}

TEST_F(Rejudging, NothingIsForgottenWithAStoredProfile) {
  store(sort(40));
  queue(1, following(sort(40)));
  master.handle(ProfileDeleted{1, theOperator(), "sort"});
  judge();
  EXPECT_EQ(causedBy(1), 40);
}

TEST_F(Rejudging, OutlivesTheMaster) {
  store(sort(20));
  const AllocationId task = begin(1, following(sort(20)));
  store(sort(40, 30));
  judge();
  const ServerStatus before = master.status("a");
  const JobRecord record = master.job(1).record;
  master.restart();
  EXPECT_EQ(master.job(1).record, record);
  EXPECT_EQ(master.status("a").sum, before.sum);
  EXPECT_EQ(master.status("a").bound, before.bound);
  EXPECT_EQ(master.status("a"), fromScratch());
  EXPECT_NE(task, 0u);
}

TEST_F(Rejudging, IsMadeUpForByTheNextMaster) {
  store(sort(20));
  queue(1, following(sort(20)));
  store(sort(40));
  master.restart();
  judge();
  EXPECT_EQ(causedBy(1), 40);
}

TEST_F(Rejudging, AgentsCopiesStayWhatTheMasterHas) {
  PublishedState copy(master.logic().snapshot(), master.logic().settings(), {});
  const auto take = [&copy](const std::vector<Action>& actions) {
    for (const PublishServer& news : only<PublishServer>(actions)) copy.take(news.update);
  };
  store(sort(20));
  Commit commit = newJob(1, following(sort(20), 3));
  commit.sequence = 1;
  for (TaskIndex task = 0; task < 3; ++task) commit.claims.push_back(claim(task, 0));
  const CommitAnswer answer = master.resend(agent, commit);
  take(master.lastActions());
  take(measure(answer.grants.at(1).allocation, Resource::kCore, 30));
  Profile learned = sort(35, 40);
  learned.caused[kCore] = 7;
  store(learned);
  take(judge());
  EXPECT_EQ(charged(kCore), 7 + 30 + 7);
  PublishedState whole(master.logic().snapshot(), master.logic().settings(), {});
  EXPECT_EQ(copy.checksum(), whole.checksum());
}

// The agent looks for slots by the profile from before, and finds none: that says nothing of this one, nor of
// others of its class.
TEST_F(Rejudging, AnAttemptByTheProfileFromBeforeDoesNotCount) {
  store(sort(20));
  queue(1, following(sort(20)));
  ASSERT_THAT(offered(master.lastActions()), ElementsAre(jobId(1)));
  queue(2, following(sort(20)));
  store(sort(60));
  EXPECT_THAT(offered(judge()), IsEmpty()) << "the one from before is still to be answered";
  EXPECT_THAT(offered(master.handle(OffersDeclined{agent, {jobId(1)}})), ElementsAre(jobId(1), jobId(2)));
}

TEST_F(Rejudging, ACommitByTheProfileFromBeforeDoesNotCountEither) {
  store(sort(20));
  queue(1, following(sort(20)));
  queue(2, following(sort(20)));
  Commit late = moreFor(1);
  late.sequence = 3;
  late.explanation.wanted = 1;
  late.capacityVersion = master.queueTold().capacityVersion;
  store(sort(60));
  judge();
  master.resend(agent, late);
  EXPECT_THAT(offered(master.lastActions()), ElementsAre(jobId(1), jobId(2)));
}

TEST_F(Rejudging, ManyJobsAreJudgedInSteps) {
  store(sort(20));
  constexpr int kJobs = 3000;
  for (int i = 1; i <= kJobs; ++i) queue(i, following(sort(20)));
  store(sort(60));
  const auto withCaused = [this](int caused) {
    int count = 0;
    for (int i = 1; i <= kJobs; ++i) count += causedBy(i) == caused;
    return count;
  };
  master.fireTimer();
  const int first = withCaused(60);
  EXPECT_GT(first, 10);
  EXPECT_LT(first, kJobs / 2);
  EXPECT_EQ(causedBy(1), 60) << "the oldest come first";
  store(sort(80));
  judge();
  EXPECT_EQ(withCaused(80), kJobs - first) << "the others follow at once, by what is known by then";
  master.pass(kRejudgingInterval);
  EXPECT_EQ(withCaused(80), kJobs);
}

}  // namespace tarcil::rejudging_test
