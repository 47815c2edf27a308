#include "master/store/group_commit.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace tarcil::group_commit_test {

using Outputs = std::vector<std::string>;

Mutation record(uint64_t epoch) {
  return Put{AgentRecord{"x", epoch}};
}

TEST(GroupCommit, GivesBackAtOnceWhatFollowsNothing) {
  GroupCommit<std::string> commit;
  EXPECT_EQ(commit.hold("a"), "a");
  EXPECT_FALSE(commit.hasGathered());
}

TEST(GroupCommit, WritesTogetherWhatGathersWhileABatchIsWritten) {
  GroupCommit<std::string> commit;
  commit.add(record(1));
  EXPECT_EQ(commit.begin().mutations.size(), 1u);
  EXPECT_FALSE(commit.hasGathered());
  commit.add(record(2));
  commit.add(record(3));
  EXPECT_EQ(commit.end().mutations.size(), 1u);
  EXPECT_TRUE(commit.hasGathered());
  EXPECT_EQ(commit.begin().mutations.size(), 2u);
}

TEST(GroupCommit, HoldsAnOutputUntilTheBatchThatItRestsOnIsWritten) {
  GroupCommit<std::string> commit;
  commit.add(record(1));
  EXPECT_EQ(commit.hold("a"), std::nullopt);
  commit.begin();
  EXPECT_EQ(commit.hold("b"), std::nullopt) << "rests on what is being written";
  commit.add(record(2));
  EXPECT_EQ(commit.hold("c"), std::nullopt);
  EXPECT_EQ(commit.waiting(), 5u);
  EXPECT_EQ(commit.end().outputs, (Outputs{"a", "b"}));
  commit.begin();
  EXPECT_EQ(commit.end().outputs, (Outputs{"c"}));
  EXPECT_EQ(commit.hold("d"), "d");
  EXPECT_EQ(commit.waiting(), 0u);
}

TEST(GroupCommit, LetsNothingOutAfterAFailure) {
  GroupCommit<std::string> commit;
  commit.add(record(1));
  commit.begin();
  commit.fail();
  EXPECT_TRUE(commit.hasFailed());
  EXPECT_EQ(commit.hold("a"), std::nullopt);
  EXPECT_EQ(commit.end().outputs, Outputs{});
  EXPECT_EQ(commit.hold("b"), std::nullopt);
}

}  // namespace tarcil::group_commit_test
