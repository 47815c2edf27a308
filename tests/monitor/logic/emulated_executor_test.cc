#include "monitor/logic/emulated_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <functional>

namespace tarcil::emulated_executor_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const Now kStart{MonotonicTime(50s), WallTime(1'700'000'000s)};

Now after(Duration duration) {
  return {kStart.steady + duration, kStart.wall + duration};
}

LaunchSpec running(AllocationId allocation, std::vector<std::string> command) {
  LaunchSpec spec;
  spec.allocation = allocation;
  spec.command = std::move(command);
  return spec;
}

// Writes down what it is told: "1 started at 0s", "1 ended at 5s".
class Listener final : public ExecutorListener {
 public:
  void taskStarted(AllocationId allocation, WallTime when) override { note(allocation, "started", when); }
  void taskEnded(AllocationId allocation, const TaskEnd& end) override {
    note(allocation, "ended", end.ended);
    ends[allocation] = end;
    if (onEnd) onEnd(allocation);
  }

  std::vector<std::string> told;
  std::map<AllocationId, TaskEnd> ends;
  std::function<void(AllocationId)> onEnd;

 private:
  void note(AllocationId allocation, const std::string& what, WallTime when) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(when - kStart.wall).count();
    told.push_back(std::to_string(allocation) + " " + what + " at " + std::to_string(seconds) + "s");
  }
};

struct Emulation {
  Listener listener;
  EmulatedExecutor executor{listener, kStart};

  // How the command ends when nothing interferes.
  TaskEnd endOf(std::vector<std::string> command, std::map<std::string, std::string> env = {}) {
    LaunchSpec spec = running(1, std::move(command));
    spec.env = std::move(env);
    executor.start(spec, {}, {});
    executor.advance(after(1'000h));
    return listener.ends.at(1);
  }
};

TEST(EmulatedExecutor, TellsStartsAndEndsInOrderOfTime) {
  Emulation emulation;
  emulation.executor.start(running(3, {"sleep", "5"}), {}, {});
  emulation.executor.start(running(2, {"sleep", "7"}), {}, {});
  emulation.executor.start(running(1, {"/bin/sleep", "5"}), {}, {});
  EXPECT_THAT(emulation.listener.told, IsEmpty());
  emulation.executor.advance(after(10s));
  EXPECT_THAT(emulation.listener.told, ElementsAre("1 started at 0s", "2 started at 0s", "3 started at 0s",
                                                   "1 ended at 5s", "3 ended at 5s", "2 ended at 7s"));
}

TEST(EmulatedExecutor, WakesForTheNextThingToTell) {
  Emulation emulation;
  EXPECT_EQ(emulation.executor.nextWake(), std::nullopt);
  emulation.executor.start(running(1, {"sleep", "5"}), {}, {});
  EXPECT_EQ(emulation.executor.nextWake(), kStart.steady);
  emulation.executor.advance(after(1s));
  EXPECT_EQ(emulation.executor.nextWake(), kStart.steady + 5s);
  emulation.executor.advance(after(5s));
  EXPECT_EQ(emulation.executor.nextWake(), std::nullopt);
}

TEST(EmulatedExecutor, ExclusiveTasksAreLostWhenTheLeaseEnds) {
  Emulation emulation;
  LaunchSpec exclusive = running(1, {"sleep", "100"});
  exclusive.exclusive = true;
  emulation.executor.extendLease(kStart.steady + 10s);
  emulation.executor.start(exclusive, {}, {});
  emulation.executor.start(running(2, {"sleep", "100"}), {}, {});
  emulation.executor.advance(after(5s));
  emulation.executor.extendLease(kStart.steady + 20s);
  emulation.executor.advance(after(99s));
  EXPECT_THAT(emulation.listener.told, ElementsAre("1 started at 0s", "2 started at 0s", "1 ended at 20s"));
  EXPECT_EQ(emulation.listener.ends.at(1).cause, EndCause::kLost);
}

TEST(EmulatedExecutor, UnderstandsSleep) {
  const auto lasts = [](std::vector<std::string> command) {
    const TaskEnd end = Emulation().endOf(std::move(command));
    return end.succeeded() ? end.ended - end.started : -1s;
  };
  EXPECT_EQ(lasts({"sleep", "0.25"}), 250ms);
  EXPECT_EQ(lasts({"sleep", "3s"}), 3s);
  EXPECT_EQ(lasts({"sleep", "2m", "1"}), 121s);
  for (const char* wrong : {"", "m", "soon", "-1", "nan", "inf", "1e300", "5x"}) {
    EXPECT_EQ(lasts({"sleep", wrong}), -1s) << wrong;
  }
  EXPECT_EQ(lasts({"sleep"}), -1s);
}

TEST(EmulatedExecutor, EndsTrueAndFalseAtOnce) {
  EXPECT_EQ(Emulation().endOf({"true"}).exitCode, 0);
  const TaskEnd end = Emulation().endOf({"/usr/bin/false"});
  EXPECT_EQ(end.exitCode, 1);
  EXPECT_EQ(end.started, end.ended);
}

TEST(EmulatedExecutor, TakesOtherCommandsFromTheEnvironment) {
  EXPECT_EQ(Emulation().endOf({"train"}).ended, kStart.wall + 1s);
  const TaskEnd end =
      Emulation().endOf({"train"}, {{"TARCIL_EMULATE_SECONDS", "2.5"}, {"TARCIL_EMULATE_EXIT", "3"}});
  EXPECT_EQ(end.ended, kStart.wall + 2500ms);
  EXPECT_EQ(end.exitCode, 3);
}

TEST(EmulatedExecutor, SaysWhichVariableIsWrong) {
  const TaskEnd end = Emulation().endOf({"train"}, {{"TARCIL_EMULATE_EXIT", "256"}});
  EXPECT_EQ(end.cause, EndCause::kNeverStarted);
  EXPECT_EQ(end.problem, "TARCIL_EMULATE_EXIT is not an exit code (0 to 255): '256'");
  EXPECT_EQ(Emulation().endOf({"train"}, {{"TARCIL_EMULATE_SECONDS", "x"}}).cause, EndCause::kNeverStarted);
}

TEST(EmulatedExecutor, EndsATaskBySignal) {
  Emulation emulation;
  emulation.executor.start(running(1, {"sleep", "60"}), {}, {});
  emulation.executor.advance(after(2s));
  emulation.executor.signal(1, SIGUSR1);
  emulation.executor.signal(1, SIGTERM);
  emulation.executor.signal(9, SIGTERM);
  emulation.executor.advance(after(100s));
  EXPECT_THAT(emulation.listener.told, ElementsAre("1 started at 0s", "1 ended at 2s"));
  EXPECT_EQ(emulation.listener.ends.at(1).signal, SIGTERM);
}

TEST(EmulatedExecutor, KeepsAnEndThatWasDueBeforeTheSignal) {
  Emulation emulation;
  emulation.executor.start(running(1, {"false"}), {}, {});
  emulation.executor.signal(1, SIGKILL);
  emulation.executor.advance(after(1s));
  EXPECT_EQ(emulation.listener.ends.at(1).signal, 0);
  EXPECT_EQ(emulation.listener.ends.at(1).exitCode, 1);
}

TEST(EmulatedExecutor, StartsFromWithinTheListenerAtThatTime) {
  Emulation emulation;
  emulation.listener.onEnd = [&executor = emulation.executor](AllocationId allocation) {
    if (allocation == 1) executor.start(running(2, {"sleep", "2"}), {}, {});
  };
  emulation.executor.start(running(1, {"sleep", "3"}), {}, {});
  emulation.executor.advance(after(10s));
  EXPECT_THAT(emulation.listener.told,
              ElementsAre("1 started at 0s", "1 ended at 3s", "2 started at 3s", "2 ended at 5s"));
}

// A task of ten seconds that bears 40 on the last-level cache.
LaunchSpec sensitive(AllocationId allocation, const std::string& server = "s1") {
  LaunchSpec spec = running(allocation, {"train"});
  spec.server = server;
  spec.rus = {0};
  spec.env = {{"TARCIL_EMULATE_SECONDS", "10"}};
  spec.tolerated.fill(kMaxPressure);
  spec.tolerated[static_cast<size_t>(Resource::kLlc)] = 40;
  return spec;
}

// Sleeps, and presses 90 on the cache meanwhile.
LaunchSpec pressing(AllocationId allocation, const std::string& seconds, const std::string& server = "s1") {
  LaunchSpec spec = running(allocation, {"sleep", seconds});
  spec.server = server;
  spec.rus = {1};
  spec.tolerated.fill(kMaxPressure);
  spec.env = {{"TARCIL_EMULATE_CAUSED", "llc=90"}};
  return spec;
}

TEST(EmulatedExecutor, TasksTakeLongerBesideOneThatPresses) {
  Emulation emulation;
  emulation.executor.start(sensitive(1), {}, {});
  emulation.executor.start(pressing(2, "1000"), {}, {});
  const double speed = *emulation.executor.speed(1);
  EXPECT_LT(speed, 0.6);
  EXPECT_EQ(emulation.executor.speed(2), 1);
  emulation.executor.advance(after(900s));
  const double took =
      std::chrono::duration<double>(emulation.listener.ends.at(1).ended - kStart.wall).count();
  EXPECT_NEAR(took, 10 / speed, 1e-3);
}

TEST(EmulatedExecutor, ATaskSpeedsUpWhenItsNeighbourIsGone) {
  Emulation emulation;
  emulation.executor.start(sensitive(1), {}, {});
  emulation.executor.start(pressing(2, "5"), {}, {});
  const double speed = *emulation.executor.speed(1);
  emulation.executor.advance(after(6s));
  EXPECT_EQ(emulation.executor.speed(1), 1);
  emulation.executor.advance(after(900s));
  const double took =
      std::chrono::duration<double>(emulation.listener.ends.at(1).ended - kStart.wall).count();
  EXPECT_NEAR(took, 5 + 10 - 5 * speed, 1e-3);
}

TEST(EmulatedExecutor, OtherServersAndOneselfDoNotSlow) {
  Emulation emulation;
  LaunchSpec loud = sensitive(1);
  loud.caused[static_cast<size_t>(Resource::kLlc)] = 90;
  emulation.executor.start(loud, {}, {});
  emulation.executor.start(pressing(2, "1000", "s2"), {}, {});
  emulation.executor.advance(after(900s));
  EXPECT_EQ(emulation.listener.ends.at(1).ended, kStart.wall + 10s);
}

TEST(EmulatedExecutor, APlatformWithMoreCacheSlowsLess) {
  Listener listener;
  Share half = fullShare();
  half[static_cast<size_t>(Resource::kLlc)] = kShareUnit / 2;
  EmulatedExecutor executor(listener, kStart, {{"s1", half}});
  executor.start(sensitive(1), {}, {});
  executor.start(pressing(2, "1000"), {}, {});
  EXPECT_EQ(executor.speed(1), 1);
}

TEST(EmulatedExecutor, SaysWhichVariableOfItsTruthIsWrong) {
  const TaskEnd end = Emulation().endOf({"train"}, {{"TARCIL_EMULATE_CORES", "none"}});
  EXPECT_EQ(end.cause, EndCause::kNeverStarted);
  EXPECT_THAT(end.problem, testing::HasSubstr("TARCIL_EMULATE_CORES: is 'none'"));
}

// Samples ten times a second; what is told meanwhile.
std::vector<Violation> sampled(Emulation& emulation, Duration from, Duration to) {
  std::vector<Violation> told;
  for (Duration at = from; at < to; at += 100ms) {
    emulation.executor.advance(after(at));
    for (Violation& violation : emulation.executor.sample()) told.push_back(std::move(violation));
  }
  return told;
}

TEST(EmulatedExecutor, TellsOfTasksThatFallShortAndNamesTheNeighbour) {
  Emulation emulation;
  LaunchSpec watched = sensitive(1);
  watched.env["TARCIL_EMULATE_SECONDS"] = "100";
  watched.performance = PerformanceGoal{.target = 500, .deviation = 0.1, .window = 1s};
  emulation.executor.start(watched, {}, {});
  emulation.executor.start(sensitive(3), {}, {});
  EXPECT_EQ(emulation.executor.watched(), 1u);
  EXPECT_THAT(sampled(emulation, 0s, 5s), IsEmpty());
  emulation.executor.start(pressing(2, "10"), {}, {});
  const auto began = sampled(emulation, 5s, 15s);
  ASSERT_EQ(began.size(), 1u);
  EXPECT_EQ(began[0].allocation, 1u);
  EXPECT_EQ(began[0].expected, 500);
  EXPECT_LT(began[0].measured, 300);
  EXPECT_EQ(began[0].causes.at(0).kind, Cause::Kind::kNeighbour);
  EXPECT_EQ(began[0].causes.at(0).neighbour, 2u);
  EXPECT_EQ(began[0].causes.at(0).resource, Resource::kLlc);
  const auto over = sampled(emulation, 15s, 20s);
  ASSERT_EQ(over.size(), 1u);
  EXPECT_TRUE(over[0].over);
}

TEST(EmulatedExecutor, ATaskWithTooFewCoresIsItsOwnFault) {
  Emulation emulation;
  LaunchSpec watched = sensitive(1);
  watched.env["TARCIL_EMULATE_CORES"] = "2";
  watched.performance = PerformanceGoal{.window = 1s};
  emulation.executor.start(watched, {}, {});
  const auto told = sampled(emulation, 0s, 5s);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].measured, 0.5);
  EXPECT_EQ(told[0].causes.at(0).kind, Cause::Kind::kCores);
}

TEST(EmulatedExecutor, MoreUnitsMakeATaskFasterThatCanUseThem) {
  Emulation emulation;
  LaunchSpec spec = sensitive(1);
  spec.env["TARCIL_EMULATE_CORES"] = "2";
  emulation.executor.start(spec, {}, {});
  emulation.executor.advance(after(4s));
  ASSERT_TRUE(emulation.executor.resize(1, {0, 3}).ok());
  EXPECT_EQ(emulation.executor.speed(1), 1);
  EXPECT_EQ(emulation.executor.resize(9, {0}).error().code, ErrorCode::kNotFound);
  emulation.executor.advance(after(900s));
  EXPECT_EQ(emulation.listener.ends.at(1).ended, kStart.wall + 12s);  // half speed for four of them
}

}  // namespace tarcil::emulated_executor_test
