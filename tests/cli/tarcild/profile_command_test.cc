// tarcil profile, as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <fstream>

#include "formats/profile_file.h"
#include "tests/cli/running_tarcil.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::tarcild_profile_command_test {

using testing::HasSubstr;

class ProfileRun : public testing::Test {
 protected:
  void SetUp() override {
    cpu_set_t set;
    ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
    if (CPU_COUNT(&set) < 2) GTEST_SKIP() << "needs two cores";
  }

  // On memory bandwidth alone, as quickly as can be.
  Words words(const Words& flags, const Words& command) const {
    Words all = {"profile",   "run", "--resources", "memory_bandwidth",
                 "--seconds", "1",   "--data",      folder_.path().string()};
    all.insert(all.end(), flags.begin(), flags.end());
    all.push_back("--");
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  ProcessResult run(const Words& flags, const Words& command) const {
    return tarcil(words(flags, command), {{"PATH", "/usr/bin:/bin"}});
  }

  const ScratchFolder folder_;
};

TEST_F(ProfileRun, WritesAFileThatSubmitTakes) {
  const std::string path = folder_.at("p.yaml");
  const ProcessResult result = run({"--json", "--application", "nothing", "--output", path}, {"true"});
  ASSERT_EQ(result.exitCode, 0) << result.err;
  const auto profile = readProfile(path);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->application, "nothing");
  const Json json = jsonOf(result);
  const Json& entry = json["entries"][kResources + static_cast<size_t>(Resource::kCore)];
  EXPECT_EQ(entry["kind"], "caused");
  EXPECT_EQ(entry["origin"], "measured");
  EXPECT_EQ(entry["value"], profile->caused[static_cast<size_t>(Resource::kCore)]);
}

TEST_F(ProfileRun, AloneSaysHowFastItIsAndNoMore) {
  const ProcessResult result = run({"--alone", "--metric", "speed"}, {"sh", "-c", "echo 'speed: 12.5'"});
  ASSERT_EQ(result.exitCode, 0) << result.err;
  const Json json = jsonOf(result);
  EXPECT_EQ(json.size(), 1u);
  EXPECT_EQ(json["performance"]["alone"], 12.5);
  EXPECT_EQ(json["performance"]["unit"], "speed");
  EXPECT_THAT(result.err, testing::Not(HasSubstr("memory_bandwidth"))) << "nothing was pressed on";
  EXPECT_EQ(run({"--alone"}, {"sh", "-c", "exit 7"}).exitCode, 1);
  EXPECT_EQ(run({"--alone"}, {"/nonexistent/command"}).exitCode, 2);
}

TEST_F(ProfileRun, ExitsWith1WhereTheCommandFails) {
  const ProcessResult result =
      run({"--output", folder_.at("p.yaml")}, {"sh", "-c", "echo broken >&2; exit 7"});
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("exit code 7; the last it said: broken"));
  EXPECT_FALSE(std::filesystem::exists(folder_.at("p.yaml")));
}

TEST_F(ProfileRun, ExitsWith1WhereTheCommandNeverEnds) {
  const ProcessResult result = run({"--run-limit", "1"}, {"sleep", "1000"});
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_THAT(result.err, HasSubstr("--run-limit"));
}

TEST_F(ProfileRun, ExitsWith2WhereThereIsNoSuchCommand) {
  const ProcessResult result = run({}, {"/nonexistent/command"});
  EXPECT_EQ(result.exitCode, 2);
  EXPECT_THAT(result.err, HasSubstr("/nonexistent/command: cannot be started: No such file"));
}

TEST_F(ProfileRun, RefusesHereWhatIsForClusters) {
  for (const Words& flags :
       {Words{"--store", "--application", "a"}, {"--server", "s1"}, {"--file", "f"}, {"--platforms", "2"}}) {
    const ProcessResult result = run(flags, {"true"});
    EXPECT_EQ(result.exitCode, 2);
    EXPECT_THAT(result.err, HasSubstr(flags.front() + ": is for measuring on a cluster"));
  }
}

TEST_F(ProfileRun, LeavesNothingRunningWhenItIsKilled) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // so that what it leaves comes to us
  {
    // The command says that it runs beside a kernel by a file: the second time that it runs.
    const std::string script = "[ -e " + folder_.at("once") + " ] || { touch " + folder_.at("once") +
                               "; exit 0; }; setsid sleep 1000 & touch " + folder_.at("twice") +
                               "; sleep 1000";
    Process tarcil(tarcilWith(words({}, {"sh", "-c", script})), {{"PATH", "/usr/bin:/bin"}});
    while (!std::filesystem::exists(folder_.at("twice"))) ::usleep(1000);
    tarcil.signal(SIGKILL);
    EXPECT_EQ(tarcil.finish().signal, SIGKILL);
  }
  // All of them end by themselves; one that stayed would keep us here until the test's time is up.
  while (::waitpid(-1, nullptr, 0) > 0) continue;
}

}  // namespace tarcil::tarcild_profile_command_test
