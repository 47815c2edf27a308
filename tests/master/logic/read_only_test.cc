// A master that is read-only: what it shows, and what it does not do.
#include "master/logic/read_only.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "master/logic/startup.h"
#include "tests/master/master_harness.h"

namespace tarcil::read_only_test {

using namespace master;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Job 1 runs on s, job 2 waits; then a read-only master starts on the store.
class ReadOnly : public testing::Test {
 protected:
  ReadOnly() {
    Commit running = newJob(1, spec());
    running.claims = {claim(0, 0)};
    before_.place(agent_, running);
    before_.commit(agent_, newJob(2, spec()));
    MasterOptions options;
    options.readOnly = true;
    std::vector<Action> actions;
    logic_ = std::make_unique<MasterLogic>(options, *before_.store().load(), before_.now(), rng_, actions);
    EXPECT_THAT(actions, IsEmpty());
  }

  std::vector<Action> handle(const Event& event, Duration later = {}) {
    Now now = before_.now();
    now.wall += later;
    now.steady += later;
    std::vector<Action> actions;
    logic_->handle(event, now, rng_, actions);
    return actions;
  }
  // Of the one action.
  template <typename T>
  static T answerOf(const std::vector<Action>& actions) {
    EXPECT_THAT(actions, SizeIs(1));
    return only<T>(actions).at(0);
  }

  MasterHarness before_;
  SessionId monitor_ = before_.attachMonitor("m", {serverFacts("s", 1)});
  SessionId agent_ = before_.attachAgent("x");
  Rng rng_{1};
  std::unique_ptr<MasterLogic> logic_;
};

TEST_F(ReadOnly, ShowsWhatIsThere) {
  EXPECT_THAT(logic_->jobs(theOperator(), {}).jobs, SizeIs(2));
  EXPECT_EQ(logic_->job(jobId(1))->progress.state, RunState::kStarting);
  EXPECT_THAT(logic_->server("s")->tasks, SizeIs(1));
  EXPECT_THAT(logic_->waitingJobs(theOperator(), 10, before_.now().wall), SizeIs(1));
  EXPECT_THAT(logic_->warning(), HasSubstr("this master is read-only (--read-only)"));
}

TEST_F(ReadOnly, LetsNoAgentAndNoMonitorAttach) {
  const auto agent = answerOf<AnswerAgentAttached>(handle(AgentAttached{7, 70, "x", 1, "there"}));
  ASSERT_FALSE(agent.epoch.ok());
  EXPECT_EQ(agent.request, 7u);
  // With other codes roles end, or say that the master is out of reach.
  EXPECT_EQ(agent.epoch.error().code, ErrorCode::kConflict);
  EXPECT_THAT(agent.epoch.error().message, HasSubstr("what runs goes on"));
  const auto monitor =
      answerOf<AnswerMonitorAttached>(handle(MonitorAttached{8, 71, "m", {serverFacts("s", 1)}, {}}));
  ASSERT_FALSE(monitor.status.ok());
  EXPECT_EQ(monitor.status.error().code, ErrorCode::kConflict);
  EXPECT_EQ(logic_->load().agents + logic_->load().monitors, 0u);
}

TEST_F(ReadOnly, RefusesWhatUsersWouldChange) {
  const std::vector<Event> changes = {
      CancelRequested{9, jobId(2), theOperator()}, JobSteered{9, theOperator(), jobId(2), JobChange::kHold},
      SharesSet{9, "alice", 2}, ServersSteered{9, theOperator(), {"s"}, ServerChange::kCordon, {}}};
  for (const Event& change : changes) {
    const auto answer = answerOf<Answer>(handle(change));
    ASSERT_FALSE(answer.status.ok());
    EXPECT_EQ(answer.status.error(), readOnlyError());
  }
  EXPECT_EQ(logic_->job(jobId(2))->progress.state, RunState::kQueued);
  EXPECT_EQ(logic_->server("s")->reason, "");
}

TEST_F(ReadOnly, DoesNothingAsTimePasses) {
  const Duration years = std::chrono::hours(24 * 365 * 2);
  EXPECT_THAT(handle(TimerFired{}, years), IsEmpty());
  EXPECT_THAT(handle(PeerDetached{70}, years), IsEmpty());
  EXPECT_THAT(handle(SpaceMeasured{0}, years), IsEmpty());
  EXPECT_EQ(logic_->job(jobId(1))->progress.state, RunState::kStarting) << "its server is not lost";
}

TEST_F(ReadOnly, StartsOnAnyStore) {
  MasterOptions options;
  options.maxUnfinishedBytes = 1;
  EXPECT_FALSE(requireRoom(options, *before_.store().load()).ok());
  options.readOnly = true;
  EXPECT_TRUE(requireRoom(options, *before_.store().load()).ok());
}

}  // namespace tarcil::read_only_test
