// What the master has the audit log say: each change with its record in one batch, refusals bounded.
#include "master/logic/audit/audited.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::audited_test {

using namespace master;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Audited : public testing::Test {
 protected:
  Audited() : agent_(master_.attachAgent("a1")) { master_.attachMonitor("m1", {serverFacts("s1", 4)}); }

  // "user action object outcome" of each entry of what was handled last.
  std::vector<std::string> said() const {
    std::vector<std::string> texts;
    for (const Audit& audit : only<Audit>(actions_)) {
      const audit::Entry& entry = audit.entry;
      texts.push_back(entry.by.user + " " + entry.action + " " + entry.object + " " + entry.outcome);
    }
    return texts;
  }
  void handle(const Event& event) { actions_ = master_.handle(event); }
  void submit(int number) {
    handle(CommitArrived{number + 100u, agent_, sequenced(newJob(number, spec())), {.knownBy = "agent"}});
  }
  Commit sequenced(Commit commit) {
    commit.sequence = ++sequence_;
    return commit;
  }
  void cancel(int number, const Caller& caller) {
    handle(CancelRequested{7, jobId(number), caller, {.user = caller.user}});
  }

  MasterHarness master_;
  SessionId agent_;
  uint64_t sequence_ = 0;
  std::vector<Action> actions_;
};

TEST_F(Audited, SaysWhoSubmittedAndWhoCancelled) {
  submit(1);
  EXPECT_THAT(said(), ElementsAre("alice job.submit job 1 accepted"));
  cancel(1, theOperator());
  ASSERT_THAT(said(), ElementsAre(theOperator().user + " job.cancel job 1 accepted"));
  EXPECT_EQ(only<Audit>(actions_)[0].entry.detail, "of user alice");
  EXPECT_EQ(only<Audit>(actions_)[0].entry.time, master_.now().wall);
}

TEST_F(Audited, SaysOfARepeatedSubmissionNothingTwice) {
  submit(1);
  handle(CommitArrived{200, agent_, [this] {
                         Commit again = newJob(1, spec());
                         again.sequence = sequence_;
                         return again;
                       }()});
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(Audited, SaysWhereNothingWasChanged) {
  submit(1);
  cancel(1, user("alice"));
  cancel(1, user("alice"));
  EXPECT_THAT(said(), ElementsAre("alice job.cancel job 1 unchanged"));
}

TEST_F(Audited, SaysWhatWasRefusedOnceASecondAndHowOften) {
  submit(1);
  cancel(1, user("bob"));
  EXPECT_THAT(said(), ElementsAre("bob job.cancel job 1 NotFound"));
  for (int i = 0; i < 50; ++i) {
    cancel(1, user("bob"));
    EXPECT_THAT(said(), IsEmpty());
  }
  actions_ = master_.pass(2s);
  ASSERT_THAT(only<Audit>(actions_), SizeIs(1));
  EXPECT_EQ(only<Audit>(actions_)[0].entry.count, 50u);
}

TEST_F(Audited, SaysEachServerThatIsSteered) {
  master_.attachMonitor("m2", {serverFacts("s2", 4)});
  handle(ServersSteered{1, theOperator(), {"s1", "s2"}, ServerChange::kCordon, {}, {.user = "oscar"}});
  EXPECT_THAT(said(), ElementsAre("oscar server.cordon server s1 accepted",
                                  "oscar server.cordon server s2 accepted"));
}

TEST_F(Audited, SaysNoSecretOfATokenOrAJob) {
  TokenRecord token{.id = 0xabc, .digest = {9}, .user = "alice"};
  token.until = master_.now().wall + 1h;
  handle(PeopleChanged{1, TokenAdded{token}, "oscar", true, {.user = "oscar"}});
  EXPECT_THAT(said(), ElementsAre("oscar token.add token 0000000000000abc accepted"));
  JobSpec secret = spec();
  secret.env["PASSWORD"] = "hunter2";
  secret.command = {"curl", "--user", "hunter2"};
  handle(CommitArrived{9, agent_, sequenced(newJob(2, secret)), {}});
  EXPECT_THAT(said(), SizeIs(1));
  EXPECT_THAT(only<Audit>(actions_)[0].entry.detail, testing::Not(HasSubstr("hunter2")));
}

TEST_F(Audited, IsWhatTheShellDidAndWhatItRefusedAtMostOnceASecond) {
  const audit::Entry start{.by = {.user = "root"}, .action = "master.start", .object = "master"};
  audit::Entry refused{.by = {.user = "bob"}, .action = "refused", .outcome = "Denied"};
  for (int i = 0; i < 2; ++i) {
    handle(Noted{start});
    EXPECT_THAT(said(), ElementsAre("root master.start master accepted"));
  }
  handle(Noted{refused});
  EXPECT_THAT(said(), SizeIs(1));
  handle(Noted{refused});
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(Audited, IsNotWhatTheClusterDoesByItself) {
  const SessionId monitor = master_.attachMonitor("m3", {serverFacts("s3", 4)});
  EXPECT_THAT(only<Audit>(master_.lastActions()), IsEmpty());
  submit(1);
  Commit place = moreFor(1);
  place.claims = {claim(0, 0)};
  handle(CommitArrived{300, agent_, sequenced(place)});
  EXPECT_THAT(said(), IsEmpty());
  handle(PeerDetached{monitor});
  EXPECT_THAT(said(), IsEmpty());
}

}  // namespace tarcil::audited_test
