// A master that starts without a job, and one that has too many to start with.
#include "master/store/drop_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "master/logic/startup.h"
#include "master/store/store_check.h"
#include "sim/faults/whole_store.h"
#include "tests/master/master_harness.h"

namespace tarcil::drop_jobs_test {

using master::requireRoom;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Job 1 runs on s, job 2 waits.
class DropJobs : public testing::Test {
 protected:
  DropJobs() {
    Commit running = newJob(1, spec());
    running.claims = {claim(0, 0)};
    allocation_ = master_.place(agent_, running);
    master_.started(monitor_, allocation_);
    master_.commit(agent_, newJob(2, spec(3)));
  }

  StoreContents contents() { return *master_.store().load(); }

  MasterHarness master_;
  SessionId agent_ = master_.attachAgent("x");
  SessionId monitor_ = master_.attachMonitor("m", {serverFacts("s", 2)});
  AllocationId allocation_ = 0;
};

TEST_F(DropJobs, LeavesTheRestOfTheStoreWhole) {
  StoreContents before = contents();
  const auto changes = dropJobs(before, {toString(jobId(1))});
  ASSERT_TRUE(changes.ok()) << changes.error().message;
  EXPECT_THAT(before.jobs, SizeIs(1));
  EXPECT_THAT(before.tasks, IsEmpty());
  ASSERT_TRUE(master_.store().write(*changes).ok());
  master_.restart();
  EXPECT_FALSE(master_.logic().job(jobId(1)));
  EXPECT_EQ(master_.stateOf(2), RunState::kQueued);
  EXPECT_THAT(checkStore(sim::wholeStore(master_.store())), IsEmpty());
}

TEST_F(DropJobs, StopsWhatStillRunsOfThem) {
  StoreContents before = contents();
  ASSERT_TRUE(master_.store().write(*dropJobs(before, {toString(jobId(1))})).ok());
  master_.restart();
  master_.attachMonitor("m", {serverFacts("s", 2)}, {{allocation_, "s"}});
  EXPECT_THAT(master_.monitorAnswer().drop, testing::ElementsAre(allocation_));
  EXPECT_EQ(master_.freeUnits("s"), 2u);
}

TEST_F(DropJobs, ThatAreNotThereAreRefused) {
  StoreContents before = contents();
  for (const std::string& id : {toString(jobId(9)), std::string("7")}) {
    const auto changes = dropJobs(before, {toString(jobId(1)), id});
    ASSERT_FALSE(changes.ok());
    EXPECT_THAT(changes.error().message, HasSubstr(id));
    EXPECT_THAT(before.jobs, SizeIs(2));
  }
}

TEST_F(DropJobs, AreAskedForWhereAStoreHasFarMoreThanTheBounds) {
  MasterOptions options;
  EXPECT_TRUE(requireRoom(options, contents()).ok());
  options.maxUnfinishedBytes = 100;
  const Status tooLarge = requireRoom(options, contents());
  ASSERT_FALSE(tooLarge.ok());
  EXPECT_THAT(tooLarge.error().message,
              HasSubstr("--max-jobs-size (100B); the largest: " + toString(jobId(2))));
  options = {};
  options.maxUnfinished = 1;
  EXPECT_TRUE(requireRoom(options, contents()).ok());
  master_.commit(agent_, newJob(3, spec()));
  const Status tooMany = requireRoom(options, contents());
  ASSERT_FALSE(tooMany.ok());
  EXPECT_THAT(tooMany.error().message, HasSubstr("are 3, more than twice --max-jobs (1)"));
  EXPECT_THAT(tooMany.error().message, HasSubstr("--drop-job ID"));
  EXPECT_THAT(tooMany.error().message, HasSubstr("--read-only changes nothing"));
}

}  // namespace tarcil::drop_jobs_test
