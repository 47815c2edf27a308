// What a gateway knows of jobs by itself.
#include "gateway/logic/job_copy.h"

#include <gtest/gtest.h>

namespace tarcil::gateway::job_copy_test {

JobId id(uint8_t number) {
  JobId id;
  id.bytes.fill(number);
  return id;
}

const Caller kAlice{"alice", Role::kSubmit, {}};
const Caller kOperator{"olga", Role::kOperate, {}};

TEST(JobCopy, IsFoundByIdAndNumberAndIsTheLast) {
  JobCopy copy(10);
  copy.put(id(1), 7, {"alice", "old"});
  copy.put(id(1), 7, {"alice", "new"});
  ASSERT_NE(copy.find(id(1), kAlice), nullptr);
  EXPECT_EQ(*copy.find(id(1), kAlice), "new");
  EXPECT_EQ(copy.idOf(7), id(1));
  EXPECT_EQ(copy.size(), 1u);
  EXPECT_EQ(copy.idOf(8), std::nullopt);
  EXPECT_EQ(copy.find(id(2), kAlice), nullptr);
}

TEST(JobCopy, ShowsJobsOfOthersToOperatorsAlone) {
  JobCopy copy(10);
  copy.put(id(1), 7, {"bob", "bobs"});
  EXPECT_EQ(copy.find(id(1), kAlice), nullptr);
  EXPECT_NE(copy.find(id(1), kOperator), nullptr);
}

TEST(JobCopy, IsOfSoManyJobs) {
  JobCopy copy(2);
  for (uint8_t i = 1; i <= 3; ++i) copy.put(id(i), i, {"alice", "x"});
  EXPECT_EQ(copy.size(), 2u);
  EXPECT_TRUE(copy.isFull());
  EXPECT_EQ(copy.idOf(1), std::nullopt);
  EXPECT_EQ(copy.find(id(1), kAlice), nullptr);
  EXPECT_NE(copy.find(id(3), kAlice), nullptr);
}

}  // namespace tarcil::gateway::job_copy_test
