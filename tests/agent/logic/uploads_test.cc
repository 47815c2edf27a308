// Input files of more than a piece go to the master ahead of the commit that names them.
#include "agent/logic/uploads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/agent_harness.h"

namespace tarcil::uploads_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

FilePieces pieces(size_t count) {
  FilePieces pieces;
  for (size_t i = 0; i < count; ++i) {
    pieces.push_back(std::make_shared<const FilePiece>(FilePiece{{"f", 0644, std::to_string(i)}}));
  }
  return pieces;
}

// --- Turns

agent::Arrival arrival(uint8_t job, const std::string& user, size_t count) {
  agent::Arrival arrival;
  arrival.record.id = jobId(job);
  arrival.record.user = user;
  arrival.files = pieces(count);
  return arrival;
}

// Job and piece of the next, which the master stores.
std::string sendNext(agent::Uploads& uploads) {
  const auto piece = uploads.next();
  if (!piece) return "none";
  const bool isLast = uploads.stored(piece->upload).has_value();
  return std::to_string(piece->job.bytes[0]) + "." + std::to_string(piece->number) + (isLast ? "!" : "");
}

TEST(UploadTurns, AreOfEachUserAPieceAtATime) {
  agent::Uploads uploads;
  uploads.add(arrival(1, "alice", 2));
  uploads.add(arrival(2, "alice", 2));
  uploads.add(arrival(3, "bob", 3));
  std::vector<std::string> sent;
  for (int i = 0; i < 8; ++i) sent.push_back(sendNext(uploads));
  EXPECT_THAT(sent, ElementsAre("1.0", "3.0", "1.1!", "3.1", "2.0", "3.2!", "2.1!", "none"));
  EXPECT_EQ(uploads.size(), 0u);
}

TEST(UploadTurns, ComeWhenThePieceUnderWayIsAnswered) {
  agent::Uploads uploads;
  uploads.add(arrival(1, "alice", 2));
  uploads.add(arrival(2, "bob", 2));
  const auto first = uploads.next();
  EXPECT_FALSE(uploads.next());
  EXPECT_FALSE(uploads.stored(first->upload + 1)) << "that of bob is not under way";
  EXPECT_FALSE(uploads.next());
  uploads.stored(first->upload);
  EXPECT_EQ(uploads.next()->job, jobId(2));
}

TEST(UploadTurns, OfWhatIsTakenBackAreNobodysAnyMore) {
  agent::Uploads uploads;
  uploads.add(arrival(1, "alice", 2));
  const auto first = uploads.next();
  EXPECT_THAT(uploads.takeAll(), SizeIs(1));
  uploads.add(arrival(1, "alice", 2));
  EXPECT_EQ(uploads.next()->number, 0u);
  EXPECT_FALSE(uploads.end(first->upload)) << "an answer to the first time";
  EXPECT_EQ(uploads.size(), 1u);
}

// --- In an agent

struct Shipping : testing::Test {
  Shipping() : agent({aServer("s1")}) { agent.attach(); }

  agent::RequestId submit(size_t count, uint8_t job = 1, const Caller& caller = alice()) {
    const agent::RequestId request = nextRequest_++;
    agent.handle(agent::SubmitArrived{request, caller, jobId(job), aJob(1), pieces(count)});
    return request;
  }
  void answer(Result<bool> isThere) {
    agent.handle(agent::PieceAnswered{agent.pieces.back().upload, std::move(isThere)});
  }
  std::vector<uint32_t> sent() const {
    std::vector<uint32_t> numbers;
    for (const agent::SendPiece& piece : agent.pieces) numbers.push_back(piece.number);
    return numbers;
  }

  AgentHarness agent;

 private:
  agent::RequestId nextRequest_ = 1000;
};

TEST_F(Shipping, SendsAllPiecesAndThenTheCommit) {
  const auto request = submit(3);
  answer(false);
  answer(false);
  EXPECT_THAT(sent(), ElementsAre(0, 1, 2));
  EXPECT_EQ(agent.pieces.back().bytes, 20u) << "a path of one byte, 16 more, and three of content";
  EXPECT_THAT(agent.commits, IsEmpty());
  EXPECT_EQ(agent.agent.load().submissions, 1u);
  answer(false);
  ASSERT_THAT(agent.commits, SizeIs(1));
  EXPECT_EQ(agent.commits[0].newJob->record.filePieces, 3u);
  EXPECT_FALSE(agent.commits[0].newJob->files);
  EXPECT_EQ(agent.answerText(request), "none");
  agent.takeCommit();
  EXPECT_EQ(agent.answerText(request), "");
}

TEST_F(Shipping, SendsASinglePieceWithTheCommit) {
  submit(1);
  EXPECT_THAT(sent(), IsEmpty());
  ASSERT_THAT(agent.commits, SizeIs(1));
  EXPECT_EQ(agent.commits[0].newJob->record.filePieces, 0u);
  EXPECT_THAT(*agent.commits[0].newJob->files, SizeIs(1));
}

TEST_F(Shipping, BeginsAnewWithANewAttachment) {
  const auto request = submit(2);
  answer(false);
  agent.loseMaster();
  answer(false);
  EXPECT_THAT(agent.commits, IsEmpty()) << "nobody knows whether it is there";
  agent.attach();
  EXPECT_THAT(sent(), ElementsAre(0, 1, 0));
  answer(false);
  answer(false);
  agent.takeCommits();
  EXPECT_EQ(agent.answerText(request), "");
}

TEST_F(Shipping, BeginsAnewWhereTheMasterHasLostThem) {
  const auto request = submit(2);
  answer(false);
  answer(false);
  ASSERT_THAT(agent.commits, SizeIs(1));
  CommitAnswer missing{agent.commits[0].sequence, CommitAnswer::Outcome::kFilesMissing, {}, {}, {}};
  agent.commits.clear();
  agent.handle(agent::CommitAnswered{missing});
  EXPECT_THAT(sent(), ElementsAre(0, 1, 0));
  answer(false);
  answer(false);
  agent.takeCommits();
  EXPECT_EQ(agent.answerText(request), "");
}

TEST_F(Shipping, GoesOnToTheCommitWhereTheJobIsThere) {
  submit(3);
  answer(true);
  EXPECT_THAT(sent(), ElementsAre(0));
  EXPECT_THAT(agent.commits, SizeIs(1));
}

TEST_F(Shipping, TellsTheClientWhatTheMasterDoesNotTake) {
  const auto full = submit(3, 1);
  answer(Error{ErrorCode::kExhausted, "too many files"});
  EXPECT_EQ(agent.answerText(full), "too many files");
  EXPECT_EQ(agent.answer(full)->error().code, ErrorCode::kExhausted);
  const auto elsewhere = submit(3, 2);
  answer(Error{ErrorCode::kConflict, "another agent"});
  EXPECT_EQ(agent.answer(elsewhere)->error().code, ErrorCode::kUnavailable) << "it is to try again";
  EXPECT_EQ(agent.agent.load().submissions, 0u);
  EXPECT_THAT(agent.commits, IsEmpty());
}

TEST_F(Shipping, IsTheSameForARepeatedSubmissionButNotForAnotherUser) {
  const auto first = submit(2);
  const auto again = submit(2);
  Caller bob = alice();
  bob.user = "bob";
  const auto other = submit(2, 1, bob);
  EXPECT_THAT(agent.answerText(other), HasSubstr("another user's job"));
  answer(false);
  answer(false);
  EXPECT_THAT(sent(), ElementsAre(0, 1));
  agent.takeCommits();
  EXPECT_EQ(agent.answerText(first), "");
  EXPECT_EQ(agent.answerText(again), "");
}

TEST_F(Shipping, LeavesOthersAheadOfItsPieces) {
  submit(3);
  agent.submit(aJob(1), jobId(2));
  EXPECT_THAT(agent.commits, SizeIs(1)) << "the small job waits for no piece";
}

}  // namespace tarcil::uploads_test
