#include <gtest/gtest.h>

#include "monitor/container/task_records.h"

namespace tarcil::task_records_test {

LaunchSpec everything() {
  LaunchSpec spec;
  spec.allocation = 77;
  spec.job.bytes[3] = 5;
  spec.jobName = "train";
  spec.task = 3;
  spec.attempt = 2;
  spec.tasks = 9;
  spec.server = "s1";
  spec.rus = {4, 5};
  spec.extras = {{"gpus", {0, 3}}};
  spec.command = {"prog", "\xff not text", ""};
  spec.env = {{"A", "1"}, {"B", ""}};
  spec.workdir = "/srv";
  spec.user = "alice";
  spec.limits = {1, 2, 3};
  spec.grace = std::chrono::seconds(3);
  spec.timeout = std::chrono::minutes(2);
  spec.hasFiles = true;
  return spec;
}

TEST(LaunchRecord, GivesBackWhatWasWritten) {
  EXPECT_EQ(decodeLaunch(encodeLaunch(everything()), 77), everything());
}

TEST(LaunchRecord, IsRefusedWhereItIsCutOff) {
  const std::string whole = encodeLaunch(everything());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(decodeLaunch(std::string_view(whole).substr(0, size), 77), std::nullopt) << size;
  }
}

TEST(LaunchRecord, IsRefusedWhereItIsOfAnotherTaskOrBlank) {
  EXPECT_EQ(decodeLaunch(encodeLaunch(everything()), 78), std::nullopt);
  EXPECT_EQ(decodeLaunch(std::string(256, '\0'), 77), std::nullopt);
}

TEST(ExitRecord, SaysHowTheTaskEnded) {
  const auto end = parseExitRecord(
      "cause exited\ncode 3\nsignal 0\nstarted 10\nended 25\noom 0\npeak 4096\ncpu 70\ncomplete\n\0\0\0junk");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->cause, EndCause::kExited);
  EXPECT_EQ(end->exitCode, 3);
  EXPECT_EQ(end->ended - end->started, Duration(15));
  EXPECT_EQ(end->peakMemoryBytes, 4096u);
  EXPECT_EQ(end->cpuTime, Duration(70));
  EXPECT_EQ(end->problem, "");
}

TEST(ExitRecord, JoinsProblems) {
  const auto end =
      parseExitRecord("cause exited\ncode 0\nsignal 9\noom 1\ncut stdout cut\nproblem p q\ncomplete\n");
  EXPECT_TRUE(end->oomKilled);
  EXPECT_EQ(end->problem, "stdout cut; p q");
}

TEST(ExitRecord, IsRefusedWithoutItsLastLine) {
  EXPECT_FALSE(parseExitRecord(""));
  EXPECT_FALSE(parseExitRecord("cause exited\ncode 3\ncomplete"));
}

TEST(ExitRecord, CanSayThatNobodyKnows) {
  const auto end = parseExitRecord(lostRecord(WallTime(Duration(5)), "gone"));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->cause, EndCause::kLost);
  EXPECT_EQ(end->started, WallTime(Duration(5)));
  EXPECT_EQ(end->problem, "gone");
}

}  // namespace tarcil::task_records_test
