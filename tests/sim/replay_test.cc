#include "sim/replay/replay.h"

#include <gtest/gtest.h>

#include "sim/replay/profiled_truth.h"
#include "sim/scenario_check.h"
#include "sim/simulation.h"

namespace tarcil::sim::replay_test {

using std::chrono::seconds;

constexpr size_t kLlc = static_cast<size_t>(Resource::kLlc);

Profile hungry() {
  Profile profile;
  profile.caused[kLlc] = 60;
  profile.tolerated[kLlc] = 40;
  return profile;
}

RecordedJob jobAt(SimTime arrival, uint32_t server, SimTime started, SimTime ended) {
  RecordedJob job;
  job.arrival = arrival;
  job.tasks = {{server, started, ended}};
  job.isWhole = true;
  return job;
}

// Two servers of two units.
Recording aRecording() {
  Recording recording;
  recording.length = seconds(100);
  recording.platforms = {{"haswell", fullShare()}};
  recording.servers = {{.name = "a", .rus = 2}, {.name = "b", .rus = 2}};
  return recording;
}

TEST(Replay, TakesWhatRanAloneForItsWork) {
  Recording recording = aRecording();
  recording.jobs = {jobAt(seconds(5), 0, seconds(6), seconds(9)),
                    jobAt(seconds(1), 1, seconds(1), seconds(3))};
  const Replay replay = replayOf(recording, ReplayTruth::kProfiles);
  ASSERT_EQ(replay.workload.jobs.size(), 2u);
  EXPECT_EQ(replay.workload.jobs[0].arrival, seconds(1)) << "by arrival";
  EXPECT_EQ(replay.workload.work[0], seconds(2));
  EXPECT_EQ(replay.workload.work[1], seconds(3));
  EXPECT_EQ(replay.outcomes[1].waited, seconds(1));
  EXPECT_EQ(replay.outcomes[1].ended, seconds(9));
  // Held within the four seconds between the arrivals: 2 unit-seconds of 16.
  EXPECT_DOUBLE_EQ(replay.utilisation, 2.0 / 16);
}

TEST(Replay, TakesNeighboursOffTheWork) {
  Recording recording = aRecording();
  recording.jobs = {jobAt(seconds(0), 0, seconds(0), seconds(10)),
                    jobAt(seconds(0), 0, seconds(5), seconds(15))};
  for (RecordedJob& job : recording.jobs) job.profile = hungry();
  const Replay replay = replayOf(recording, ReplayTruth::kProfiles);
  // Beside one another they lack 119/99 - 1 of the cache for five seconds.
  const double lacking = 119.0 / 99 - 1, slow = 1 / (1 + 2 * lacking * (1 + 0.5 * lacking));
  EXPECT_NEAR(static_cast<double>(replay.workload.work[0].count()), 5e6 * (1 + slow), 2);
  EXPECT_EQ(replay.workload.work[0], replay.workload.work[1]);
  EXPECT_NEAR(replay.qualities[0], (1 + slow) / 2, 1e-6);
  EXPECT_EQ(replayOf(recording, ReplayTruth::kNone).workload.work[0], seconds(10));
}

TEST(Replay, FeelsTheBackgroundOfAServer) {
  Recording recording = aRecording();
  recording.servers[0].background[kLlc] = 99;
  recording.jobs = {jobAt(seconds(0), 0, seconds(0), seconds(10)),
                    jobAt(seconds(0), 1, seconds(0), seconds(10))};
  for (RecordedJob& job : recording.jobs) job.profile = hungry();
  const Replay replay = replayOf(recording, ReplayTruth::kProfiles);
  EXPECT_LT(replay.workload.work[0], seconds(6));
  EXPECT_EQ(replay.workload.work[1], seconds(10));
}

TEST(Replay, CountsPlatformsByWhatProfilesSayOfThem) {
  Recording recording = aRecording();
  recording.platforms.push_back({"nehalem", fullShare()});
  recording.servers[1].platform = 1;
  recording.jobs = {jobAt(seconds(0), 1, seconds(0), seconds(10))};
  recording.jobs[0].profile.platforms = {{"haswell", 0.8}, {"nehalem", 0.4}};
  const Replay replay = replayOf(recording, ReplayTruth::kProfiles);
  EXPECT_EQ(replay.workload.work[0], seconds(5)) << "on the better of the two";
}

TEST(Replay, ReplaysWhatWasSeenOfJobsThatAreNotWhole) {
  Recording recording = aRecording();
  recording.jobs = {jobAt(-seconds(50), 0, -seconds(40), seconds(10)),
                    jobAt(-seconds(50), 0, -seconds(40), -seconds(10)),
                    jobAt(seconds(1), 1, seconds(1), seconds(100))};
  for (RecordedJob& job : recording.jobs) job.isWhole = false;
  const Replay replay = replayOf(recording, ReplayTruth::kProfiles);
  ASSERT_EQ(replay.workload.jobs.size(), 2u) << "one was over before";
  EXPECT_EQ(replay.workload.jobs[0].arrival, seconds(0));
  EXPECT_EQ(replay.workload.work[0], seconds(10));
  EXPECT_FALSE(replay.workload.jobs[0].isCounted);
  EXPECT_EQ(replay.uncounted, 2u);
  EXPECT_TRUE(replay.qualities.empty());
}

TEST(Replay, JobsAreOneApplicationWhereSchedulersSeeNoDifference) {
  Recording recording = aRecording();
  recording.jobs.assign(3, jobAt(seconds(0), 0, seconds(0), seconds(1)));
  recording.jobs[1].target = 0.5;
  const Replay replay = replayOf(recording, ReplayTruth::kProfiles);
  ASSERT_EQ(replay.belief.profiles.size(), 2u);
  EXPECT_EQ(replay.belief.targets, (std::vector<std::optional<double>>{std::nullopt, 0.5}));
  EXPECT_EQ(replay.workload.jobs[2].application, 0);
}

TEST(Replay, OfNothingThatRanHasNoJobs) {
  Recording recording = aRecording();
  EXPECT_TRUE(replayOf(recording, ReplayTruth::kProfiles).workload.jobs.empty());
}

// Two jobs that hurt one another sat on one server, and the other was idle.
Scenario replayed(ReplayTruth truth = ReplayTruth::kProfiles) {
  Recording recording = aRecording();
  for (int i = 0; i < 2; ++i) {
    recording.jobs.push_back(jobAt(seconds(i), 0, seconds(i), seconds(20 + i)));
    recording.jobs.back().profile = hungry();
  }
  recording.settings.margin = 1;
  Scenario scenario;
  lay(recording, truth, scenario);
  return scenario;
}

TEST(ReplayScenario, TellsHowJobsReallyFared) {
  const Scenario scenario = replayed();
  EXPECT_TRUE(problems(scenario).empty());
  EXPECT_EQ(scenario.settings.margin, 1);
  EXPECT_EQ(scenario.servers(), 2u);
  EXPECT_EQ(scenario.units(), 4u);
  const Summary recorded = recordedSummary(scenario);
  EXPECT_EQ(recorded.jobs, 2u);
  EXPECT_DOUBLE_EQ(recorded.responseMs.mean, 20'000);
  EXPECT_DOUBLE_EQ(recorded.waitMs.mean, 0);
  EXPECT_LT(recorded.quality.mean, 0.8);
}

TEST(ReplayScenario, ShowsWhatTheQualityPolicyWouldHaveDone) {
  const Summary summary = simulate(replayed(), PolicyName::kQuality, 1);
  EXPECT_EQ(summary.violations, 0u);
  EXPECT_EQ(summary.jobs, 2u);
  EXPECT_GT(summary.quality.mean, 0.999) << "each on a server of its own";
  EXPECT_LT(summary.responseMs.mean, recordedSummary(replayed()).responseMs.mean);
}

TEST(ReplayScenario, HoldsToATargetThatAJobBrings) {
  Scenario scenario = replayed();
  Replay replay = *scenario.replay;
  // With a place that is noisy good enough for it, it does not wait for a quiet one.
  replay.servers.resize(1);
  replay.backgrounds.resize(1);
  for (SimJob& job : replay.workload.jobs) job.maxWait = seconds(1000);
  scenario.settings.protectNeighbours = false;
  scenario.settings.margin = 0;
  for (const double target : {0.95, 0.5}) {
    replay.belief.targets.assign(1, target);
    scenario.replay = std::make_shared<const Replay>(replay);
    const Summary summary = simulate(scenario, PolicyName::kQuality, 1);
    EXPECT_EQ(summary.waitMs.mean > 1'000, target > 0.9) << target;
  }
}

TEST(ReplayScenario, WithoutInterferenceTasksTakeAsLongAsTheyDid) {
  const Scenario scenario = replayed(ReplayTruth::kNone);
  EXPECT_DOUBLE_EQ(recordedSummary(scenario).quality.mean, 1);
  const Summary summary = simulate(scenario, PolicyName::kOmniscient, 1);
  EXPECT_NEAR(summary.responseMs.mean, 20'000, 10);
}

}  // namespace tarcil::sim::replay_test
