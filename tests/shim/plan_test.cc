#include <gtest/gtest.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/container/shim_plan.h"
#include "shim/plan_reader.h"

namespace tarcil::shim_plan_test {

LaunchSpec someSpec() {
  LaunchSpec spec;
  spec.allocation = 5;
  spec.command = {"prog", "", "two words"};
  spec.env = {{"PATH", "/opt/bin"}, {"A", "x=y"}};
  spec.limits.outputBytes = 99;
  spec.server = "s1";
  spec.output = "/logs/out";
  spec.error = "/logs/err";
  spec.input = "in/words";
  return spec;
}
const SystemUser kUser{"alice", 1000, 100, {100, 27}, "/home/alice", "/bin/sh"};

bool readBytes(const std::string& bytes, Plan& plan) {
  const int fd = ::memfd_create("plan", MFD_CLOEXEC);
  EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  const bool good = readPlan(fd, plan);
  ::close(fd);
  return good;
}

std::vector<std::string> wordsOf(char** words) {
  std::vector<std::string> result;
  for (; *words != nullptr; ++words) result.emplace_back(*words);
  return result;
}

TEST(Plan, ReachesTheShimAsTheMonitorMeantIt) {
  TaskSetting setting;
  setting.taskDirectory = "/data/tasks/5";
  setting.workPoint = "/run/work";
  setting.root = "/images/debian";
  setting.program = "/opt/tarcil";
  setting.filter = "8 bytes.and more";
  setting.deviceFilter = "instructions of 8 bytes ";
  setting.devices = {{"/dev/dri/card0", {false, 226, 0}, 0660, 1, 44},
                     {"/dev/sdb", {true, 8, 16}, 0600, 0, 6}};
  setting.hostView = true;
  setting.shares = {"/home", "/data/sets"};
  setting.hidden = {"/var/lib/secret"};
  setting.cores = {1, 70};
  setting.pinByAffinity = true;
  setting.cgroups = {{"/m/5", "/p/5"},
                     {{"/m/5/limit", "10"}},
                     {"/m/5/tasks", "/p/5/tasks"},
                     "",
                     "/m/5/oom",
                     {"/c/5/tasks"},
                     "/m/5/peak",
                     "/c/5/usage"};
  Plan plan{};
  ASSERT_TRUE(readBytes(*encodePlan(someSpec(), kUser, setting), plan));
  EXPECT_EQ(plan.header->allocation, 5u);
  EXPECT_EQ(plan.header->outputLimit, 99u);
  EXPECT_EQ(plan.header->uid, 1000u);
  EXPECT_EQ((std::vector<uint32_t>{plan.groups, plan.groups + plan.header->groups}),
            (std::vector<uint32_t>{100, 27}));
  EXPECT_STREQ(plan.taskDirectory, "/data/tasks/5");
  EXPECT_STREQ(plan.outputFile, "/logs/out");
  EXPECT_STREQ(plan.errorFile, "/logs/err");
  EXPECT_STREQ(plan.inputFile, "in/words");
  EXPECT_STREQ(plan.fileRemedy,
               "it takes a folder that user alice may write into on s1, with no symbolic link on the way: "
               "make it, or write another path");
  EXPECT_STREQ(plan.workPoint, "/run/work");
  EXPECT_STREQ(plan.workDirectory, "");
  EXPECT_STREQ(plan.root, "/images/debian");
  EXPECT_STREQ(plan.program, "/opt/tarcil");
  EXPECT_EQ(plan.header->filter, 2u);
  EXPECT_EQ(::memcmp(plan.filter, "8 bytes.and more", 16), 0);
  EXPECT_EQ(plan.header->deviceFilter, 3u);
  EXPECT_EQ(::memcmp(plan.deviceFilter, "instructions of 8 bytes ", 24), 0);
  ASSERT_EQ(plan.header->devices, 2u);
  EXPECT_STREQ(plan.devicePaths[0], "/dev/dri/card0");
  EXPECT_STREQ(plan.devicePaths[1], "/dev/sdb");
  EXPECT_EQ(plan.devices[0].mode, S_IFCHR | 0660u);
  EXPECT_EQ(plan.devices[0].gid, 44u);
  EXPECT_EQ(plan.devices[1].mode, S_IFBLK | 0600u);
  EXPECT_EQ(plan.devices[1].major, 8u);
  EXPECT_EQ(plan.devices[1].minor, 16u);
  EXPECT_EQ(plan.header->hostView, 1u);
  ASSERT_EQ(plan.header->shares, 2u);
  EXPECT_STREQ(plan.shares[1], "/data/sets");
  ASSERT_EQ(plan.header->hidden, 1u);
  EXPECT_STREQ(plan.hidden[0], "/var/lib/secret");
  EXPECT_STREQ(plan.searchPath, "/opt/bin");
  EXPECT_STREQ(plan.oomFile, "/m/5/oom");
  EXPECT_STREQ(plan.peakFile, "/m/5/peak");
  EXPECT_STREQ(plan.cpuFile, "/c/5/usage");
  EXPECT_STREQ(plan.outputJoins[0], "/c/5/tasks");
  EXPECT_EQ(wordsOf(plan.arguments), someSpec().command);
  const auto variables = wordsOf(plan.variables);
  EXPECT_NE(std::find(variables.begin(), variables.end(), "A=x=y"), variables.end());
  EXPECT_NE(std::find(variables.begin(), variables.end(), "TARCIL_CORES=1,70"), variables.end());
  EXPECT_STREQ(plan.directories[1], "/p/5");
  EXPECT_STREQ(plan.settings[0].file, "/m/5/limit");
  EXPECT_STREQ(plan.settings[0].value, "10");
  EXPECT_STREQ(plan.joins[1], "/p/5/tasks");
  EXPECT_EQ(plan.header->affinity[0], 2u);
  EXPECT_EQ(plan.header->affinity[1], uint64_t{1} << 6);
}

TEST(Plan, IsRefusedWhereItIsCutOffOrOfAnotherBuild) {
  TaskSetting setting;
  setting.deviceFilter = "8 bytes.";
  setting.devices = {{"/dev/sdb", {true, 8, 16}, 0600, 0, 6}};
  const std::string whole = *encodePlan(someSpec(), kUser, setting);
  Plan plan{};
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(readBytes(whole.substr(0, size), plan)) << size;
  std::string other = whole;
  other[0] ^= 1;
  EXPECT_FALSE(readBytes(other, plan));
}

TEST(Plan, CannotHoldWhatNoCommandCanBeGiven) {
  LaunchSpec spec = someSpec();
  spec.command[1] = std::string("a\0b", 3);
  EXPECT_EQ(encodePlan(spec, kUser, {}).error().code, ErrorCode::kInvalid);
  spec.command.clear();
  EXPECT_EQ(encodePlan(spec, kUser, {}).error().code, ErrorCode::kInvalid);
}

}  // namespace tarcil::shim_plan_test
