// Applications that jobs of their own measure.
#include "master/logic/jobs/profiling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "master/store/store_check.h"
#include "sim/faults/whole_store.h"
#include "tests/master/master_harness.h"

namespace tarcil::profiling_test {

using namespace master;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kLlc = static_cast<size_t>(Resource::kLlc);

struct MeasuringJobs : testing::Test {
  MasterHarness h;
  SessionId monitor = h.attachMonitor("m", {serverFacts("a", 4)});
  SessionId agent = h.attachAgent("x");

  void SetUp() override { measureUnknown(true); }

  void measureUnknown(bool does) {
    QualitySettings settings = h.logic().settings();
    settings.profileUnknown = does;
    h.handle(SettingsSet{1, settings});
  }
  static Commit measuring(int number, const std::string& application = "sort") {
    JobSpec job = spec();
    job.measures = application;
    job.restart.onLost = false;
    return newJob(number, job);
  }
  CommitAnswer submit(const Commit& commit) { return h.commit(agent, commit); }
  AllocationId start(int number, const std::string& application = "sort") {
    Commit commit = measuring(number, application);
    commit.claims = {claim(0, 0)};
    const AllocationId allocation = h.place(agent, commit);
    h.started(monitor, allocation);
    return allocation;
  }
  static Profile measured(uint8_t llc = 40) {
    Profile profile = causing(Resource::kLlc, llc);
    profile.application = "whatever it says";
    profile.origins.caused[kLlc] = {Origin::kMeasured, 3};
    return profile;
  }
  void end(AllocationId allocation, const std::optional<Measurement>& said, int code = 0) {
    h.handle(ReportsArrived{1, monitor, {{allocation, true, exitedWith(code), said}}});
  }
  const Profiling* profiling(const std::string& application = "sort") {
    const auto found = h.logic().profilings().find(application);
    return found == h.logic().profilings().end() ? nullptr : &found->second;
  }
  std::string problem() { return profiling() ? profiling()->problem : "there is none"; }
  // The store fits together.
  void expectSound() { EXPECT_THAT(checkStore(sim::wholeStore(h.store())), IsEmpty()); }
};

TEST_F(MeasuringJobs, StoreWhatTheyMeasuredInTheNameOfTheirUser) {
  const AllocationId allocation = start(1);
  ASSERT_NE(profiling(), nullptr);
  EXPECT_TRUE(profiling()->isUnderWay());
  EXPECT_EQ(profiling()->job, jobId(1));
  EXPECT_EQ(profiling()->user, "alice");
  expectSound();
  end(allocation, Measurement{measured(), ""});
  const StoredProfile* stored = h.logic().profile("sort", "alice");
  ASSERT_NE(stored, nullptr);
  EXPECT_EQ(stored->profile.caused[kLlc], 40);
  EXPECT_EQ(stored->profile.origins.caused[kLlc], (EntryOrigin{Origin::kMeasured, 3}));
  EXPECT_EQ(stored->profile.application, "sort");
  EXPECT_EQ(stored->user, "alice");
  EXPECT_EQ(stored->note, "measured on a, platform p");
  EXPECT_EQ(stored->stored, h.now().wall);
  EXPECT_EQ(profiling(), nullptr);
  expectSound();
}

// Whenever the master dies, the profile is there if the end is, and the other way round.
TEST_F(MeasuringJobs, AreStoredWithTheirEndOrNotAtAll) {
  const AllocationId allocation = start(1);
  h.restart();
  ASSERT_NE(profiling(), nullptr) << "it is under way after a restart, too";
  agent = h.attachAgent("x");
  monitor = h.attachMonitor("m", {serverFacts("a", 4)}, {{allocation, "a"}});
  const TaskReport report{allocation, true, exitedWith(0), Measurement{measured(), ""}};
  h.dieBeforeStoring(ReportsArrived{1, monitor, {report}});
  EXPECT_EQ(h.stateOf(1), RunState::kRunning);
  EXPECT_EQ(h.logic().profile("sort", "alice"), nullptr);
  EXPECT_NE(profiling(), nullptr);
  monitor = h.attachMonitor("m", {serverFacts("a", 4)}, {{allocation, "a"}});
  h.dieBeforeAnswering(ReportsArrived{1, monitor, {report}});
  EXPECT_EQ(h.stateOf(1), RunState::kDone);
  EXPECT_NE(h.logic().profile("sort", "alice"), nullptr);
  EXPECT_EQ(profiling(), nullptr);
  expectSound();
}

TEST_F(MeasuringJobs, AreTakenOnceForAnApplication) {
  start(1);
  const CommitAnswer second = submit(measuring(2));
  EXPECT_EQ(second.outcome, CommitAnswer::Outcome::kRefused);
  EXPECT_THAT(second.problem, HasSubstr("sort is being measured by job " + toString(jobId(1))));
  EXPECT_FALSE(h.logic().job(jobId(2)));
  EXPECT_EQ(submit(measuring(1)).outcome, CommitAnswer::Outcome::kJobExists) << "a repeat is no second one";
  EXPECT_EQ(submit(measuring(3, "gzip")).outcome, CommitAnswer::Outcome::kOk);
}

TEST_F(MeasuringJobs, AreTakenWhereTheOperatorWantsThemAndNothingIsStored) {
  measureUnknown(false);
  EXPECT_THAT(submit(measuring(1)).problem, HasSubstr("tarcil tune --profile-unknown true"));
  measureUnknown(true);
  Profile stored = measured();
  stored.application = "sort";
  h.handle(ProfileStored{1, theOperator(), stored, ""});
  EXPECT_THAT(submit(measuring(2)).problem, HasSubstr("is stored"));
  EXPECT_THAT(submit(measuring(3, "sort@9.1")).problem, HasSubstr("is stored")) << "it stands in";
  EXPECT_THAT(submit(measuring(4, "../x")).problem, HasSubstr("application"));
  Commit two = measuring(5, "gzip");
  two.newJob->record.spec.tasks = 2;
  EXPECT_THAT(submit(two).problem, HasSubstr("one task"));
  EXPECT_THAT(h.logic().profilings(), IsEmpty());
}

TEST_F(MeasuringJobs, ThatFailSayWhyAndAreNotRepeatedAtOnce) {
  end(start(1), Measurement{{}, "the command fails"}, 1);
  EXPECT_EQ(problem(), "the task exited with code 1: the command fails");
  EXPECT_EQ(h.logic().profile("sort", "alice"), nullptr);
  h.restart();
  agent = h.attachAgent("x");
  EXPECT_EQ(problem(), "the task exited with code 1: the command fails") << "after a restart, too";
  const CommitAnswer early = submit(measuring(2));
  EXPECT_EQ(early.outcome, CommitAnswer::Outcome::kRefused);
  EXPECT_THAT(early.problem, HasSubstr("failed within the last hour"));
  h.skip(kProfilingInterval);
  EXPECT_EQ(submit(measuring(3)).outcome, CommitAnswer::Outcome::kOk);
  EXPECT_TRUE(profiling()->isUnderWay());
  expectSound();
}

TEST_F(MeasuringJobs, ThatSayNothingOrRubbishStoreNothing) {
  end(start(1), std::nullopt);
  EXPECT_THAT(problem(), HasSubstr("does not say what was measured"));
  end(start(2, "gzip"), Measurement{{}, "what it printed is no measurement"});
  EXPECT_EQ(profiling("gzip")->problem, "what it printed is no measurement");
  Profile tooFast = measured();
  tooFast.platforms["p"] = 7;
  end(start(3, "xz"), Measurement{tooFast, ""});
  EXPECT_THAT(profiling("xz")->problem, HasSubstr("above 0 and at most 1"));
  EXPECT_THAT(h.logic().profiles(), IsEmpty());
}

TEST_F(MeasuringJobs, AreBelievedNoLongTextsAndNoControlCharacters) {
  end(start(1), Measurement{{}, "\x1b[2J\n" + std::string(10'000, 'x')}, 1);
  EXPECT_THAT(problem(), SizeIs(kMaxProblemBytes));
  EXPECT_THAT(problem(), HasSubstr("?[2J?xxx"));
}

TEST_F(MeasuringJobs, ThatAreCancelledOrLostHaveFailed) {
  submit(measuring(1));
  h.cancel(1, user("alice"));
  EXPECT_EQ(problem(), "cancelled by alice");
  const AllocationId allocation = start(2, "gzip");
  monitor = h.attachMonitor("m", {serverFacts("a", 4)});  // without the task
  EXPECT_THAT(profiling("gzip")->problem, HasSubstr("came back without it"));
  (void)allocation;
  expectSound();
}

TEST_F(MeasuringJobs, ReplaceNoProfileThatWasStoredMeanwhile) {
  const AllocationId allocation = start(1);
  Profile stored = measured(70);
  stored.application = "sort";
  h.handle(ProfileStored{1, user("alice"), stored, "by hand"});
  end(allocation, Measurement{measured(40), ""});
  EXPECT_EQ(h.logic().profile("sort", "alice")->note, "by hand");
  EXPECT_EQ(h.logic().profile("sort", "alice")->profile.caused[kLlc], 70);
  EXPECT_EQ(profiling(), nullptr);
}

TEST_F(MeasuringJobs, MayComeAgainOnceTheirFailureIsForgotten) {
  end(start(1), std::nullopt);
  const auto erase = [this](const Caller& caller = user("alice")) {
    return only<Answer>(h.handle(ProfileDeleted{1, caller, "sort"})).at(0).status;
  };
  EXPECT_EQ(erase(user("bob")).error().code, ErrorCode::kDenied);
  EXPECT_TRUE(erase().ok());
  EXPECT_EQ(profiling(), nullptr);
  EXPECT_EQ(erase().error().code, ErrorCode::kNotFound);
  EXPECT_EQ(submit(measuring(2)).outcome, CommitAnswer::Outcome::kOk);
  EXPECT_EQ(erase().error().code, ErrorCode::kNotFound) << "what is under way is cancelled, not deleted";
}

TEST_F(MeasuringJobs, HaveTheirRecordChecked) {
  start(1);
  WholeStore store = sim::wholeStore(h.store());
  store.contents.profilings.clear();
  EXPECT_THAT(checkStore(store).at(0).what, HasSubstr("there is no record of that"));
  store = sim::wholeStore(h.store());
  store.contents.profilings.at(0).job = jobId(9);
  EXPECT_THAT(checkStore(store), SizeIs(2));
}

}  // namespace tarcil::profiling_test
