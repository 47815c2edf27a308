#include "master/logic/secrets/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::secrets_test {

using namespace master;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

SealedValue sealed(const std::string& bytes) {
  SealedValue value;
  value.key = "k";
  value.bytes = bytes + std::string(SealedValue::kTagBytes, 't');
  return value;
}

JobSpec naming(std::vector<std::string> secrets, const std::string& application = "") {
  JobSpec job = spec();
  job.secrets = std::move(secrets);
  job.profile.application = application;
  return job;
}

// Jobs are alice's.
class JobSecrets : public testing::Test {
 protected:
  JobSecrets()
      : agent_(master_.attachAgent("a1")), monitor_(master_.attachMonitor("m1", {serverFacts("s1", 4)})) {}

  Status change(SecretChange change) {
    actions_ = master_.handle(SecretsChanged{1, std::move(change), {.user = "oscar"}});
    return only<Answer>(actions_).at(0).status;
  }
  void put(const std::string& owner, const std::string& name, const std::string& bytes = "sealed") {
    ASSERT_TRUE(change(SecretPut{owner, name, sealed(bytes)}).ok());
  }
  AllocationId place(int number, const JobSpec& job) {
    Commit commit = newJob(number, job);
    commit.claims = {claim(0, 0)};
    return master_.place(agent_, commit);
  }
  Result<std::vector<SecretRecord>> ask(AllocationId allocation, SessionId session) {
    actions_ = master_.handle(SecretsAsked{2, session, allocation, "10.0.0.7"});
    return only<AnswerSecrets>(actions_).at(0).secrets;
  }
  Result<std::vector<SecretRecord>> ask(AllocationId allocation) { return ask(allocation, monitor_); }
  // "user action object outcome detail" of what the audit log says of the last event.
  std::vector<std::string> said() const {
    std::vector<std::string> texts;
    for (const Audit& audit : only<Audit>(actions_)) {
      const audit::Entry& entry = audit.entry;
      texts.push_back(entry.by.user + " " + entry.action + " " + entry.object + " " + entry.outcome + " " +
                      entry.detail);
    }
    return texts;
  }

  MasterHarness master_;
  SessionId agent_, monitor_;
  std::vector<Action> actions_;
};

TEST_F(JobSecrets, AreStoredSealedBeforeAnybodyHearsOfThem) {
  put("alice", "db");
  ASSERT_TRUE(change(SecretGranted{"alice", "db", {"bob", ""}}).ok());
  master_.restart();
  const SecretRecord* secret = master_.logic().secrets().find({"alice", "db"});
  ASSERT_NE(secret, nullptr);
  EXPECT_EQ(secret->value, sealed("sealed"));
  EXPECT_THAT(secret->grants, ElementsAre(SecretGrant{"bob", ""}));
  ASSERT_TRUE(change(SecretDeleted{"alice", "db"}).ok());
  master_.restart();
  EXPECT_THAT(master_.logic().secrets().all(), IsEmpty());
}

TEST_F(JobSecrets, ThatAreNotThereOrNotGrantedKeepAJobFromBeingTaken) {
  put("bob", "tls");
  for (const auto& [name, said] :
       {std::pair("db", "secrets: there is no secret 'alice/db'"),
        std::pair("bob/tls", "secrets: secret 'bob/tls' is not there, or not granted to alice")}) {
    const CommitAnswer answer = master_.commit(agent_, newJob(1, naming({name})));
    EXPECT_EQ(answer.outcome, CommitAnswer::Outcome::kRefused);
    EXPECT_THAT(answer.problem, HasSubstr(said));
  }
  EXPECT_FALSE(master_.logic().summary(jobId(1)).has_value());
  ASSERT_TRUE(change(SecretGranted{"bob", "tls", {"alice", "etl"}}).ok());
  EXPECT_EQ(master_.commit(agent_, newJob(1, naming({"bob/tls"}, "other"))).outcome,
            CommitAnswer::Outcome::kRefused);
  EXPECT_EQ(master_.commit(agent_, newJob(1, naming({"bob/tls"}, "etl"))).outcome,
            CommitAnswer::Outcome::kOk);
}

TEST_F(JobSecrets, GoToTheMonitorThatStartsTheTaskAndTheAuditLogSaysSo) {
  put("alice", "db", "first");
  put("alice", "tls", "second");
  put("alice", "unnamed");
  const AllocationId allocation = place(1, naming({"tls", "db"}));
  const auto given = ask(allocation);
  ASSERT_TRUE(given.ok()) << given.error().message;
  ASSERT_THAT(*given, SizeIs(2));
  EXPECT_EQ((*given)[0].name, "tls");
  EXPECT_EQ((*given)[1].value, sealed("first"));
  EXPECT_THAT(said(), ElementsAre("alice secret.read secret alice/tls accepted version 1, for job 1.0",
                                  "alice secret.read secret alice/db accepted version 1, for job 1.0"));
  EXPECT_EQ(only<Audit>(actions_)[0].entry.by.knownBy, "monitor of s1");
  EXPECT_EQ(only<Audit>(actions_)[0].entry.by.address, "10.0.0.7");
  EXPECT_TRUE(ask(allocation).ok()) << "the answer may have been lost";
  EXPECT_THAT(said(), SizeIs(2)) << "each time";
}

TEST_F(JobSecrets, GoToNoOtherMonitorAndToNoTaskThatIsNotStarting) {
  put("alice", "db");
  const SessionId other = master_.attachMonitor("m2", {serverFacts("s2", 4)});
  const AllocationId allocation = place(1, naming({"db"}));
  EXPECT_EQ(ask(allocation, other).error().code, ErrorCode::kDenied);
  EXPECT_THAT(said(), ElementsAre(HasSubstr(" secret.read allocation ")));
  EXPECT_EQ(ask(allocation, agent_).error().code, ErrorCode::kDenied) << "no monitor at all";
  EXPECT_EQ(ask(allocation + 1).error().code, ErrorCode::kDenied);
  ASSERT_TRUE(ask(allocation).ok());
  master_.started(monitor_, allocation);
  EXPECT_EQ(ask(allocation).error().code, ErrorCode::kDenied) << "it runs";
}

TEST_F(JobSecrets, GoToNoTaskThatIsBeingCancelled) {
  put("alice", "db");
  const AllocationId allocation = place(1, naming({"db"}));
  master_.cancel(1, user("alice"));
  EXPECT_EQ(ask(allocation).error().code, ErrorCode::kDenied);
}

// By what holds then: what was granted at the submission counts no more.
TEST_F(JobSecrets, ThatWereDeletedOrRevokedMeanwhileAreNotGiven) {
  put("alice", "db");
  put("bob", "tls");
  ASSERT_TRUE(change(SecretGranted{"bob", "tls", {"alice", ""}}).ok());
  const AllocationId one = place(1, naming({"db"})), other = place(2, naming({"bob/tls"}));
  ASSERT_TRUE(change(SecretDeleted{"alice", "db"}).ok());
  ASSERT_TRUE(change(SecretRevoked{"bob", "tls", {"alice", ""}}).ok());
  EXPECT_EQ(ask(one).error().code, ErrorCode::kNotFound);
  EXPECT_THAT(said(), ElementsAre("alice secret.read job 1.0 NotFound "));
  const auto refused = ask(other);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("'bob/tls' is not there, or not granted to alice"));
}

TEST_F(JobSecrets, ThatAreChangedAreInTheAuditLogWithoutTheirValues) {
  put("alice", "db", "hunter2");
  EXPECT_THAT(said(), ElementsAre("oscar secret.put secret alice/db accepted version 1"));
  ASSERT_TRUE(change(SecretGranted{"alice", "db", {"", "etl"}}).ok());
  EXPECT_THAT(said(), ElementsAre("oscar secret.grant secret alice/db accepted user *, application etl"));
  ASSERT_TRUE(change(SecretGranted{"alice", "db", {"", "etl"}}).ok());
  EXPECT_THAT(said(), ElementsAre(HasSubstr("unchanged")));
  ASSERT_TRUE(change(SecretResealed{"alice", "db", 1, sealed("2retnuh")}).ok());
  EXPECT_THAT(said(), ElementsAre("oscar secret.rekey secret alice/db accepted key k"));
  ASSERT_TRUE(change(SecretRevoked{"alice", "db", {"", "etl"}}).ok());
  EXPECT_THAT(said(), ElementsAre("oscar secret.revoke secret alice/db accepted user *, application etl"));
  ASSERT_TRUE(change(SecretDeleted{"alice", "db"}).ok());
  EXPECT_THAT(said(), ElementsAre("oscar secret.delete secret alice/db accepted "));
}

TEST_F(JobSecrets, ThatACronsJobNamesHaveToBeThereWhenItIsAdded) {
  CronSpec nightly{
      .id = jobId(7), .name = "nightly", .schedule = "0 6 * * *", .zone = "UTC", .job = naming({"db"})};
  const auto add = [&]() {
    actions_ = master_.handle(CronAdded{1, {"alice", Role::kSubmit, {"alice"}}, nightly});
    return only<Answer>(actions_).at(0).status;
  };
  const Status refused = add();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("secrets: there is no secret 'alice/db'"));
  put("alice", "db");
  EXPECT_TRUE(add().ok());
}

}  // namespace tarcil::secrets_test
