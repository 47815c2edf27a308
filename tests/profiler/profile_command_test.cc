// The profiler with commands that are no good to it.
#include "profiler/profile_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::profiler_profile_command_test {

using testing::HasSubstr;

class ProfileCommand : public testing::Test {
 protected:
  ProfileCommand() {
    for (ResourceCalibration& resource : calibration_.resources) resource.absent = "not calibrated";
    // Its pressure is what the dial says, however busy the machine.
    calibration_[Resource::kLlc] = {};
    calibration_.llcBytes = 4 << 20;
    options_.resources = {Resource::kLlc};
    options_.budget = Seconds(0.5);
  }
  void SetUp() override {
    if (machine_.firstThreads.size() < 2) GTEST_SKIP() << "needs two cores";
  }

  Result<Findings> profile(const std::string& script) {
    options_.command = {"sh", "-c", script};
    return profileCommand(machine_, calibration_, options_, [](const std::string&) {});
  }
  void expectRefused(const std::string& script, ErrorCode code, const std::string& about) {
    const auto findings = profile(script);
    ASSERT_FALSE(findings);
    EXPECT_EQ(findings.error().code, code);
    EXPECT_THAT(findings.error().message, HasSubstr(about));
  }

  const Machine machine_ = readMachine();
  Calibration calibration_;
  ProfileOptions options_;
};

TEST_F(ProfileCommand, MeasuresACommandOfAMillisecond) {
  const auto findings = profile("exit 0");
  ASSERT_TRUE(findings) << findings.error().message;
  EXPECT_GT(findings->alone.runs, 1u);
  ASSERT_EQ(findings->resources.size(), 1u);
  EXPECT_FALSE(findings->resources[0].skipped) << *findings->resources[0].skipped;
  EXPECT_TRUE(findings->tolerated[static_cast<size_t>(Resource::kLlc)]);
  EXPECT_TRUE(findings->caused[static_cast<size_t>(Resource::kCore)]);
}

TEST_F(ProfileCommand, SaysHowACommandFailsThatFailsAlone) {
  expectRefused("echo no such input >&2; exit 4", ErrorCode::kInvalid,
                "exit code 4; the last it said: no such input");
}

TEST_F(ProfileCommand, SaysThatACommandNeverEnds) {
  options_.runAtMost = Seconds(0.2);
  expectRefused("sleep 1000", ErrorCode::kInvalid, "--metric");
}

TEST_F(ProfileCommand, SaysThatThereIsTooLittleTimeForOneRun) {
  options_.budget = Seconds(0.001);
  expectRefused("sleep 0.05", ErrorCode::kExhausted, "--seconds");
}

TEST_F(ProfileCommand, SaysThatTheMetricIsMissing) {
  options_.measure = Measure::kMetric;
  options_.metric = "ops";
  expectRefused("echo 5 ops", ErrorCode::kInvalid, "ops NUMBER");
}

TEST_F(ProfileCommand, WaitsForAServiceThatTakesItsTimeToBegin) {
  options_.measure = Measure::kMetric;
  options_.metric = "ops";
  const auto findings = profile("sleep 0.7; while :; do echo ops: 100; sleep 0.01; done");
  ASSERT_TRUE(findings) << findings.error().message;
  EXPECT_EQ(findings->alone.performance, 100);
}

TEST_F(ProfileCommand, ProfilesAServiceByWhatItReports) {
  options_.measure = Measure::kMetric;
  options_.metric = "ops";
  const auto findings = profile("while :; do echo ops: 100; done");
  ASSERT_TRUE(findings) << findings.error().message;
  EXPECT_EQ(findings->alone.performance, 100);
  EXPECT_EQ(findings->tolerated[static_cast<size_t>(Resource::kLlc)], 99);
}

// With an event that any kernel counts in place of instructions.
TEST_F(ProfileCommand, ProfilesAServiceThatReportsNothingByWhatIsCounted) {
  options_.measure = Measure::kCounted;
  options_.counted = {.type = 1, .config = 2};  // faults of pages
  if (const Status counts = countable(options_.counted); !counts) GTEST_SKIP() << counts.error().message;
  const auto findings = profile("while :; do ( : ); done");
  ASSERT_TRUE(findings) << findings.error().message;
  EXPECT_GT(findings->alone.performance, 0);
  EXPECT_TRUE(findings->resources[0].tolerance);
}

TEST_F(ProfileCommand, SaysWhatCannotBeCounted) {
  options_.measure = Measure::kCounted;
  options_.counted = {.type = 0x7fffffff, .config = 0};
  expectRefused("sleep 1000", ErrorCode::kNotFound, "perf_event_open: ");
}

TEST_F(ProfileCommand, ByProcessorTimeDoesNotCountWhatACommandWaitsFor) {
  options_.measure = Measure::kProcessorTime;
  const auto findings = profile("sleep 0.1");
  ASSERT_TRUE(findings) << findings.error().message;
  EXPECT_GT(findings->alone.performance, 10);  // more than ten runs a second is what waiting would allow
}

TEST_F(ProfileCommand, NeedsACoreToPressFrom) {
  options_.rus = machine_.firstThreads.size();
  if (machine_.hasSiblings()) GTEST_SKIP() << "siblings can press";
  expectRefused("exit 0", ErrorCode::kInvalid, "--rus");
}

TEST_F(ProfileCommand, PassesOverWhatIsPrivateToACore) {
  if (machine_.hasSiblings()) GTEST_SKIP() << "caches are shared by siblings here";
  options_.resources = {Resource::kL2};
  calibration_[Resource::kL2].absent.reset();
  const auto findings = profile("exit 0");
  ASSERT_TRUE(findings);
  EXPECT_THAT(findings->resources[0].skipped.value_or(""), HasSubstr("each core has its own"));
  EXPECT_FALSE(findings->tolerated[static_cast<size_t>(Resource::kL2)]);
}

// It fails as soon as this process has a child that presses.
TEST_F(ProfileCommand, TakesACommandThatFailsUnderPressureForOneThatBearsNothing) {
  const auto findings = profile("! pgrep -x press-0-llc -P $(ps -o ppid= -p $PPID)");
  ASSERT_TRUE(findings) << findings.error().message;
  ASSERT_TRUE(findings->resources[0].tolerance);
  EXPECT_EQ(findings->resources[0].tolerance->performance, 0);
}

}  // namespace tarcil::profiler_profile_command_test
