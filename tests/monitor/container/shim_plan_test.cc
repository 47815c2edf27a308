#include "monitor/container/shim_plan.h"

#include <gtest/gtest.h>

namespace tarcil::container_shim_plan_test {

std::map<std::string, std::string> environmentOf(const LaunchSpec& spec) {
  return taskEnvironment(spec, SystemUser{}, TaskSetting{});
}

TEST(TaskEnvironment, SaysWhichExtrasTheTaskHas) {
  LaunchSpec spec;
  spec.extras = {{"gpus", {0, 3}}, {"tape-drives", {2}}};
  spec.env = {{"TARCIL_EXTRA_GPUS", "forged"}};
  const auto environment = environmentOf(spec);
  EXPECT_EQ(environment.at("TARCIL_EXTRA_GPUS"), "0,3");
  EXPECT_EQ(environment.at("TARCIL_EXTRA_TAPE_DRIVES"), "2");
}

TEST(TaskEnvironment, ShowsCudaTheTasksGpusUnlessTheJobSaysOtherwise) {
  LaunchSpec spec;
  EXPECT_FALSE(environmentOf(spec).contains("CUDA_VISIBLE_DEVICES"));
  spec.extras = {{"tapes", {1}}};
  EXPECT_FALSE(environmentOf(spec).contains("CUDA_VISIBLE_DEVICES"));
  spec.extras = {{"gpus", {1, 2}}};
  EXPECT_EQ(environmentOf(spec).at("CUDA_VISIBLE_DEVICES"), "1,2");
  spec.env = {{"CUDA_VISIBLE_DEVICES", ""}};
  EXPECT_EQ(environmentOf(spec).at("CUDA_VISIBLE_DEVICES"), "");
}

TEST(TaskEnvironment, SaysWhereTheTasksOfAGangAre) {
  LaunchSpec spec;
  spec.task = 1;
  for (const char* name : {"TARCIL_RANK", "TARCIL_HOSTS", "TARCIL_HOSTFILE"}) {
    EXPECT_FALSE(environmentOf(spec).contains(name)) << name << " of a job that is no gang";
  }
  spec.gang = GangHosts{"a,b", "a slots=1\nb slots=1\n"};
  spec.env = {{"TARCIL_RANK", "forged"}};
  const auto environment = environmentOf(spec);
  EXPECT_EQ(environment.at("TARCIL_RANK"), "1");
  EXPECT_EQ(environment.at("TARCIL_HOSTS"), "a,b");
  EXPECT_EQ(environment.at("TARCIL_HOSTFILE"), "/work/.tarcil-hosts");
}

TEST(TaskEnvironment, LeavesOutHostsThatWereTooLong) {
  LaunchSpec spec;
  spec.gang = GangHosts{};
  EXPECT_EQ(environmentOf(spec).at("TARCIL_RANK"), "0");
  EXPECT_FALSE(environmentOf(spec).contains("TARCIL_HOSTS"));
  EXPECT_FALSE(environmentOf(spec).contains("TARCIL_HOSTFILE"));
}

}  // namespace tarcil::container_shim_plan_test
