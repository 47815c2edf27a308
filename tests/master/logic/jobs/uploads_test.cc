// Input files that come ahead of their job: it has all of them or none, and nothing of the others stays.
#include "master/logic/jobs/uploads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/job_size.h"
#include "master/store/store_check.h"
#include "sim/faults/whole_store.h"
#include "tests/master/master_harness.h"

namespace tarcil::uploads_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Outcome = CommitAnswer::Outcome;

const std::vector<InputFile> kFiles = {{"data", 0644, std::string(250, 'd')}, {"run", 0755, "text"}};

MasterOptions options() {
  MasterOptions options;
  options.maxFileBytesOfUser = 2 * kMaxPieceBytes;
  options.maxFileBytes = 3 * kMaxPieceBytes;
  return options;
}

struct Uploads : testing::Test {
  Uploads() : master(options()), agent(master.attachAgent("x")) {}

  // "": stored; "there": the job is there.
  std::string send(int job, uint32_t number, const FilePiece& piece, uint64_t bytes = sizeOf(kFiles),
                   const std::string& user = "alice") {
    const auto actions = master.handle(master::PieceArrived{1, agent, jobId(job), user, bytes, number,
                                                            std::make_shared<const FilePiece>(piece)});
    const Result<bool> answer = only<master::AnswerPiece>(actions).at(0).isThere;
    if (!answer.ok()) return answer.error().message;
    return *answer ? "there" : "";
  }
  std::string send(int job, uint32_t number) { return send(job, number, *pieces[number]); }
  void sendAll(int job) {
    for (uint32_t number = 0; number < pieces.size(); ++number) EXPECT_EQ(send(job, number), "");
  }

  Commit commitOf(int job) {
    Commit commit = newJob(job, spec());
    commit.newJob->record.hasFiles = true;
    commit.newJob->record.filePieces = static_cast<uint32_t>(pieces.size());
    commit.newJob->record.fileBytes = sizeOf(kFiles);
    return commit;
  }
  CommitAnswer commit(int job) { return master.commit(agent, commitOf(job)); }

  std::vector<InputFile> filesOf(int job) { return *master.store().files(jobId(job)); }
  std::vector<StoreProblem> problems() { return checkStore(sim::wholeStore(master.store())); }
  // Nothing is left of uploads, and what is there is whole.
  void expectClean() {
    EXPECT_THAT(master.store().load()->uploads, IsEmpty());
    EXPECT_THAT(problems(), IsEmpty());
  }
  void restart() {
    master.restart();
    agent = master.attachAgent("x", *master.agentAnswer().epoch);
  }

  MasterHarness master;
  SessionId agent;
  const FilePieces pieces = inPieces(kFiles, 100);
};

TEST_F(Uploads, AreTheJobsWithItsCommit) {
  ASSERT_EQ(pieces.size(), 4u);
  sendAll(1);
  EXPECT_THAT(problems(), IsEmpty()) << "before the commit";
  EXPECT_EQ(commit(1).outcome, Outcome::kOk);
  EXPECT_EQ(filesOf(1), kFiles);
  EXPECT_EQ(master.logic().filePieces(jobId(1)), 4u);
  EXPECT_EQ(master.job(1).record.fileBytes, sizeOf(kFiles));
  expectClean();
  restart();
  EXPECT_EQ(filesOf(1), kFiles) << "another start leaves them alone";
  expectClean();
  master.cancel(1, user("alice"));
  EXPECT_EQ(filesOf(1), kFiles) << "it may be run again";
  expectClean();
}

TEST_F(Uploads, ThatLackAPieceMakeNoJob) {
  for (uint32_t number = 0; number < 3; ++number) send(1, number);
  EXPECT_EQ(commit(1).outcome, Outcome::kFilesMissing);
  EXPECT_FALSE(master.logic().job(jobId(1)));
  EXPECT_THAT(filesOf(1), IsEmpty()) << "the agent begins anew";
  expectClean();
  sendAll(1);
  EXPECT_EQ(commit(1).outcome, Outcome::kOk);
}

TEST_F(Uploads, OfWhichNothingCameMakeNoJob) {
  EXPECT_EQ(commit(1).outcome, Outcome::kFilesMissing);
  sendAll(2);
  Commit others = commitOf(2);
  others.newJob->record.user = "bob";
  EXPECT_EQ(master.commit(agent, others).outcome, Outcome::kFilesMissing) << "they are alice's";
  expectClean();
}

TEST_F(Uploads, AreForgottenByAMasterThatStarts) {
  send(1, 0);
  send(1, 1);
  restart();
  EXPECT_THAT(filesOf(1), IsEmpty());
  expectClean();
  EXPECT_THAT(send(1, 2), HasSubstr("piece 0 is missing"));
}

// The agent repeats a commit that it has no answer to.
TEST_F(Uploads, AreMissingForACommitThatIsRepeatedToTheNextMaster) {
  sendAll(1);
  Commit commit = commitOf(1);
  commit.sequence = 1;
  master.dieBeforeStoring(master::CommitArrived{2, agent, commit});
  agent = master.attachAgent("x", *master.agentAnswer().epoch);
  EXPECT_EQ(master.resend(agent, commit).outcome, Outcome::kFilesMissing);
  expectClean();
}

TEST_F(Uploads, AreTheJobsWhereTheCommitWasStoredAndNotAnswered) {
  sendAll(1);
  Commit commit = commitOf(1);
  commit.sequence = 1;
  master.dieBeforeAnswering(master::CommitArrived{2, agent, commit});
  agent = master.attachAgent("x", *master.agentAnswer().epoch);
  EXPECT_EQ(master.resend(agent, commit).outcome, Outcome::kOk);
  EXPECT_EQ(filesOf(1), kFiles);
  expectClean();
}

TEST_F(Uploads, EndWithTheConnectionTheyCameBy) {
  sendAll(1);
  master.detach(agent);
  EXPECT_THAT(filesOf(1), IsEmpty());
  agent = master.attachAgent("x", *master.agentAnswer().epoch);
  EXPECT_EQ(commit(1).outcome, Outcome::kFilesMissing);
  expectClean();
}

TEST_F(Uploads, EndWithAConnectionThatIsReplaced) {
  sendAll(1);
  agent = master.attachAgent("x", *master.agentAnswer().epoch);
  EXPECT_THAT(filesOf(1), IsEmpty());
  expectClean();
}

TEST_F(Uploads, EndWhereNothingComesForAMinute) {
  sendAll(1);
  master.pass(master::kUploadTimeout - 1s);
  EXPECT_EQ(filesOf(1), kFiles);
  send(2, 0);
  master.pass(2s);
  EXPECT_THAT(filesOf(1), IsEmpty());
  EXPECT_EQ(send(2, 1), "") << "of that one, something came";
  master.pass(master::kUploadTimeout);
  EXPECT_THAT(filesOf(2), IsEmpty());
  expectClean();
}

TEST_F(Uploads, TakePiecesInOrder) {
  EXPECT_THAT(send(1, 1), HasSubstr("piece 0 is missing"));
  EXPECT_EQ(send(1, 0), "");
  EXPECT_THAT(send(1, 2), HasSubstr("piece 1 is missing"));
  EXPECT_EQ(send(1, 1), "");
  EXPECT_THAT(send(1, 1), HasSubstr("piece 2 is missing")) << "twice";
}

TEST_F(Uploads, BeginAnewWithTheFirstPiece) {
  sendAll(1);
  sendAll(1);
  EXPECT_EQ(commit(1).outcome, Outcome::kOk);
  EXPECT_EQ(filesOf(1), kFiles);
  expectClean();
}

TEST_F(Uploads, EndWithAPieceThatIsTooLargeOrMoreThanAnnounced) {
  send(1, 0);
  EXPECT_THAT(send(1, 1, {{"data", 0644, std::string(kMaxPieceBytes, 'd')}}), HasSubstr("at most 1MiB"));
  expectClean();
  EXPECT_EQ(send(1, 0, *pieces[0], 100), "");
  EXPECT_THAT(send(1, 1, *pieces[1], 100), HasSubstr("than the 100 bytes that were announced"));
  expectClean();
  EXPECT_THAT(send(1, 0, *pieces[0], kMaxInputBytes + 1), HasSubstr("at most 64MiB are shipped"));
  expectClean();
}

TEST_F(Uploads, OfAJobThatIsThereStoreNothing) {
  sendAll(1);
  commit(1);
  EXPECT_EQ(send(1, 0, {{"data", 0644, "other"}}), "there");
  EXPECT_EQ(filesOf(1), kFiles);
  EXPECT_THAT(send(1, 0, *pieces[0], sizeOf(kFiles), "bob"), HasSubstr("this job id is taken"));
  EXPECT_EQ(commit(1).outcome, Outcome::kJobExists);
  EXPECT_EQ(filesOf(1), kFiles);
}

TEST_F(Uploads, OfOneJobComeThroughOneAgent) {
  send(1, 0);
  const SessionId first = agent, second = master.attachAgent("y");
  agent = second;
  EXPECT_THAT(send(1, 0), HasSubstr("another agent sends input files of this job"));
  EXPECT_EQ(commit(1).outcome, Outcome::kFilesMissing);
  agent = first;
  EXPECT_EQ(send(1, 1), "") << "the other's failure is not its own";
  master.detach(first);
  agent = second;
  sendAll(1);
  EXPECT_EQ(commit(1).outcome, Outcome::kOk);
}

TEST_F(Uploads, GiveWayToAJobOfThatIdWhoseFilesComeWithIt) {
  sendAll(1);
  const SessionId other = master.attachAgent("y");
  Commit commit = newJob(1, spec());
  commit.newJob->record.hasFiles = true;
  commit.newJob->files = std::make_shared<const FilePiece>(FilePiece{{"other", 0644, "text"}});
  EXPECT_EQ(master.commit(other, commit).outcome, Outcome::kOk);
  EXPECT_EQ(filesOf(1), *commit.newJob->files);
  expectClean();
  master.detach(agent);
  EXPECT_EQ(filesOf(1), *commit.newJob->files) << "they are the job's";
}

TEST_F(Uploads, CountFromTheirBeginningForWhatTheStoreTakes) {
  EXPECT_EQ(send(1, 0, *pieces[0], 2 * kMaxPieceBytes), "");
  EXPECT_THAT(send(2, 0), HasSubstr("the unfinished jobs of alice would take more than 2MiB"));
  EXPECT_EQ(send(3, 0, *pieces[0], sizeOf(kFiles), "bob"), "") << "counts for a piece";
  EXPECT_THAT(send(4, 0, *pieces[0], sizeOf(kFiles), "carol"), HasSubstr("input files of unfinished jobs"));
  master.detach(agent);
  agent = master.attachAgent("x", *master.agentAnswer().epoch);
  EXPECT_EQ(send(2, 0), "");
}

TEST_F(Uploads, OfAJobThatIsRefusedGo) {
  sendAll(1);
  Commit bad = commitOf(1);
  bad.newJob->record.spec.command.clear();
  EXPECT_EQ(master.commit(agent, bad).outcome, Outcome::kRefused);
  EXPECT_THAT(filesOf(1), IsEmpty());
  expectClean();
}

TEST_F(Uploads, AreNotBegunWhereTheDiskIsNearlyFull) {
  master.handle(master::SpaceMeasured{0});
  EXPECT_THAT(send(1, 0), HasSubstr("disk nearly full"));
  expectClean();
}

TEST_F(Uploads, OfWhoSpeaksForNoAgentAreNotTaken) {
  agent = 99;
  EXPECT_THAT(send(1, 0), HasSubstr("does not speak for an agent"));
  expectClean();
}

TEST_F(Uploads, AreForFilesThatACommitDoesNotTake) {
  Commit large = newJob(1, spec());
  large.newJob->record.hasFiles = true;
  large.newJob->files =
      std::make_shared<const FilePiece>(FilePiece{{"f", 0644, std::string(kMaxPieceBytes, 'x')}});
  const CommitAnswer answer = master.commit(agent, large);
  EXPECT_EQ(answer.outcome, Outcome::kRefused);
  EXPECT_THAT(answer.problem, HasSubstr("are to go ahead, in pieces"));
}

}  // namespace tarcil::uploads_test
