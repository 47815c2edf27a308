#include "client/late/submitted_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/model/constraint.h"

namespace tarcil::submitted_job_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

LateBindingJob aJob() {
  LateBindingJob job;
  job.command = {"./solve"};
  job.tasks = 4;
  return job;
}

std::string problemOf(const LateBindingJob& job) {
  try {
    lateClientJob(job);
    return "";
  } catch (const std::invalid_argument& problem) {
    return problem.what();
  }
}

TEST(SubmittedJob, CarriesWhereTasksRun) {
  LateBindingJob job = aJob();
  job.constraints = {"gpu exists"};
  job.servers = {.require = {"s1", "rack != r3", "s2"}, .prefer = {"s1"}};
  job.serversOfTask[1] = {.require = {"s2"}, .prefer = {}};
  job.serversOfTask[3] = {.require = {}, .prefer = {"s9"}};
  const Placement placement = lateClientJob(job).spec.placement;
  EXPECT_EQ(describe(placement.constraints), "gpu exists; rack != r3; server in (s1, s2)");
  EXPECT_THAT(placement.prefer, ElementsAre("s1"));
  EXPECT_THAT(placement.requireOfTask, ElementsAre(Pair(1, ElementsAre(onServers({"s2"})))));
  EXPECT_THAT(placement.preferOfTask, ElementsAre(Pair(3, ElementsAre("s9"))));
}

TEST(SubmittedJob, CarriesTheProfile) {
  EXPECT_TRUE(lateClientJob(aJob()).spec.profile.isUnknown());
  LateBindingJob job = aJob();
  job.caused = {{"llc", 40}};
  job.tolerated = {{"llc", 60}};
  const Profile profile = lateClientJob(job).spec.profile;
  EXPECT_EQ(profile.caused[static_cast<size_t>(Resource::kLlc)], 40);
  EXPECT_EQ(profile.caused[static_cast<size_t>(Resource::kCore)], 0);
  EXPECT_EQ(profile.tolerated[static_cast<size_t>(Resource::kLlc)], 60);
  EXPECT_EQ(profile.tolerated[static_cast<size_t>(Resource::kCore)], kMaxPressure);
}

TEST(SubmittedJob, SaysWhatIsWrong) {
  EXPECT_EQ(problemOf(aJob()), "");
  LateBindingJob job = aJob();
  job.servers.require = {"rack == r1"};
  EXPECT_THAT(problemOf(job), HasSubstr("servers.require: column 6"));
  job = aJob();
  job.serversOfTask[4] = {.require = {"s1"}, .prefer = {}};
  EXPECT_THAT(problemOf(job), HasSubstr("placement.require.4: is for no task of this job"));
  job = aJob();
  job.caused = {{"cache", 3}};
  EXPECT_THAT(problemOf(job), HasSubstr("caused.cache: write a resource"));
  job.caused = {{"llc", 101}};
  EXPECT_THAT(problemOf(job), HasSubstr("caused.llc: write a resource"));
}

}  // namespace tarcil::submitted_job_test
