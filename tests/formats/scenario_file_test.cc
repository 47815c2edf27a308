#include "formats/scenario_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tarcil::scenario_file_test {

using sim::PolicyName;
using testing::ElementsAre;
using testing::HasSubstr;

std::string problemOf(const std::string& text) {
  const auto read = parseScenario(text, "dir/s.yaml");
  return read.ok() ? "" : read.error().message;
}

TEST(ParseScenario, ReadsEveryField) {
  const auto read = parseScenario(
      "name: a try\n"
      "cluster: {platforms: [{servers: 3, rus: 4}, {servers: 2, rus: 32}]}\n"
      "workload: {kind: 'swf:t.swf.gz', jobs: 9, load: 0.7, tasks: 2, mean: 1s, durations: constant, gap: "
      "2s, "
      "warm_up: 0.2}\n"
      "truth: {kind: measured, corun: [p.csv, /data/t.csv], above_one: as-one, phases: 3, phase_change: 0.5, "
      "noise: 0.25, applications: 7, combine: "
      "mean, heterogeneity: "
      "0.1, "
      "pressure: 0.5, classification_error: 0.05, profiles: classified, probes: 4}\n"
      "policies: [quality, late-binding]\n"
      "seeds: 1,4..6\n"
      "quality: {target: 0.9, confidence: 0.99, cap: 16, floor: 4, ratio: 8, margin: 5, noise_floor: 1, "
      "model: "
      "encoded, contention: mean, protect_neighbours: false, neighbour_floor: 0.7}\n"
      "agents: 3\n"
      "rtt: 4ms\n"
      "probe_ratio: 1.5\n"
      "patience: 0.5\n"
      "wait_bound: 5s\n"
      "scan_per_slot: 10us\n"
      "scan_bound: 1s\n",
      "dir/s.yaml");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const sim::Scenario& scenario = read->scenario;
  EXPECT_EQ(scenario.name, "a try");
  EXPECT_EQ(scenario.units(), 76u);
  EXPECT_EQ(read->traceFile, "dir/t.swf.gz");
  EXPECT_EQ(read->traceFormat, TraceFormat::kSwf);
  EXPECT_THAT(read->coRunFiles, ElementsAre("dir/p.csv", "/data/t.csv"));
  EXPECT_EQ(read->aboveOne, sim::AboveOne::kAsOne);
  EXPECT_EQ(scenario.workload, sim::WorkloadKind::kTrace);
  EXPECT_EQ(scenario.jobs, 9u);
  EXPECT_EQ(scenario.load, 0.7);
  EXPECT_EQ(scenario.durations, sim::Durations::kConstant);
  EXPECT_EQ(scenario.gap, std::chrono::seconds(2));
  EXPECT_EQ(scenario.truth, sim::TruthKind::kMeasured);
  EXPECT_EQ(scenario.combining, sim::Combining::kMean);
  EXPECT_EQ(scenario.classificationError, 0.05);
  EXPECT_EQ(scenario.profiles, sim::ProfileSource::kClassified);
  EXPECT_EQ(scenario.probes, 4u);
  EXPECT_EQ(scenario.phases, 3u);
  EXPECT_EQ(scenario.phaseChange, 0.5);
  EXPECT_EQ(scenario.noise, 0.25);
  EXPECT_THAT(scenario.policies, ElementsAre(PolicyName::kQuality, PolicyName::kLateBinding));
  EXPECT_THAT(scenario.seeds, ElementsAre(1, 4, 5, 6));
  EXPECT_EQ(scenario.settings.ratio, 8u);
  EXPECT_EQ(scenario.settings.model, QualityModel::kEncoded);
  EXPECT_EQ(scenario.settings.contention, ContentionModel::kMean);
  EXPECT_FALSE(scenario.settings.protectNeighbours);
  EXPECT_EQ(scenario.settings.neighbourFloor, 0.7);
  EXPECT_EQ(scenario.roundTrip, std::chrono::milliseconds(4));
  EXPECT_EQ(scenario.patience, 0.5);
  EXPECT_EQ(scenario.scanPerSlot, std::chrono::microseconds(10));
}

TEST(ParseScenario, ReadsStreamsAndResidents) {
  const auto read = parseScenario(
      "cluster: {servers: 10, rus: 8, residents: {part: 0.4, rus: 2}}\n"
      "workload: {kind: streams, span: 50s, streams: [{load: 1}, {name: late, load: 0.25, tasks: 3, mean: "
      "1s, "
      "durations: exp-tasks, priority: 80, shares: 2, from: 10s, until: 20s}]}\n"
      "moments: 500\n"
      "buckets: 8\n"
      "decision: 1ms\n"
      "dispatch: 667us\n"
      "cancel: false\n",
      "s.yaml");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const sim::Scenario& scenario = read->scenario;
  EXPECT_EQ(scenario.residents.part, 0.4);
  EXPECT_EQ(scenario.residents.rus, 2u);
  EXPECT_EQ(scenario.span, std::chrono::seconds(50));
  ASSERT_EQ(scenario.streams.size(), 2u);
  EXPECT_EQ(scenario.streams[0].name, "stream-1");
  EXPECT_FALSE(scenario.streams[0].until);
  const sim::Stream& late = scenario.streams[1];
  EXPECT_EQ(late.name, "late");
  EXPECT_EQ(late.load, 0.25);
  EXPECT_EQ(late.tasks, 3u);
  EXPECT_EQ(late.durations, sim::Durations::kExponentialTasks);
  EXPECT_EQ(late.priority, 80);
  EXPECT_EQ(late.shares, 2);
  EXPECT_EQ(late.from, std::chrono::seconds(10));
  EXPECT_EQ(late.until, std::chrono::seconds(20));
  EXPECT_EQ(scenario.moments, 500u);
  EXPECT_EQ(scenario.buckets, 8u);
  EXPECT_EQ(scenario.decision, std::chrono::milliseconds(1));
  EXPECT_EQ(scenario.dispatch, std::chrono::microseconds(667));
  EXPECT_FALSE(scenario.cancel);
  EXPECT_TRUE(loadScenario(*read).ok());
}

TEST(LoadScenario, LooksAtStreamsAsAWhole) {
  const std::pair<const char*, const char*> cases[] = {
      {"workload: {kind: streams}", "streams: is 0; write a number from 1 to 256"},
      {"workload: {kind: streams, streams: [{from: 70s}]}", "streams.from: is not before until and span"},
      {"workload: {kind: streams, span: 100000s, streams: [{load: 1}]}",
       "write one that gives 1 to 50000000"},
  };
  for (const auto& [text, problem] : cases) {
    EXPECT_THAT(loadScenario(*parseScenario(text, "s.yaml")).error().message, HasSubstr(problem)) << text;
  }
}

TEST(ParseScenario, NamesPlaceFieldAndRemedy) {
  const std::pair<const char*, const char*> cases[] = {
      {"servers: 3", "dir/s.yaml:1:1: servers: unknown field;"},
      {"cluster: {servers: 0}",
       "dir/s.yaml:1:20: cluster.servers: is '0'; write a whole number from 1 to 100000"},
      {"cluster: {servers: 1, platforms: [{rus: 1}]}", "cluster.platforms: stands beside servers or rus"},
      {"cluster: {platforms: []}", "cluster.platforms: is an empty list"},
      {"cluster: {platforms: [{rus: 1, cores: 2}]}", "cluster.platforms[0].cores: unknown field"},
      {"workload: {kind: pbs}",
       "workload.kind: is 'pbs'; write alike, mixed, heavy-tailed, streams, swf:FILE, openb:FILE or "
       "swim:FILE"},
      {"workload: {kind: 'swf:'}", "workload.kind: is 'swf:'; write"},
      {"workload: {load: 11}", "workload.load: is '11'; write a number from 0.001 to 10"},
      {"workload: {mean: 0s}", "workload.mean: is"},
      {"truth: {kind: guess}", "truth.kind: is 'guess'; write one of none, parametric, measured"},
      {"truth: {corun: [a, b, c]}", "truth.corun: has 3 files; write that of pairs, and triples"},
      {"policies: [qualty]", "policies[0]: is 'qualty'; did you mean quality?"},
      {"policies: []", "policies: is an empty list; write at least one policy"},
      {"seeds: 5..1", "seeds: is '5..1'; write seeds such as 1 or 1,5 or 1..8, at most 10000"},
      {"quality: {cap: 0}", "quality.cap: is '0'"},
      {"cluster: {residents: {part: 2}}", "cluster.residents.part: is '2'; write a number from 0 to 0.9"},
      {"workload: {streams: [{laod: 1}]}", "workload.streams[0].laod: unknown field; known here: name, load"},
      {"rtt: fast", "rtt: "},
      {"[]", "write a mapping"},
  };
  for (const auto& [text, problem] : cases) EXPECT_THAT(problemOf(text), HasSubstr(problem)) << text;
}

RC_GTEST_PROP(ParseScenario, ReadsOrRefusesWhateverThereIs, (const std::string& text)) {
  const auto read = parseScenario(text, "s.yaml");
  RC_ASSERT((read.ok() || read.error().message.starts_with("s.yaml:")));
}

TEST(ParseSeeds, TakesNumbersAndRanges) {
  EXPECT_THAT(*parseSeeds("7"), ElementsAre(7));
  EXPECT_THAT(*parseSeeds("1..3,9"), ElementsAre(1, 2, 3, 9));
  EXPECT_THAT(*parseSeeds("18446744073709551615"), ElementsAre(UINT64_MAX));
  EXPECT_THAT(*parseSeeds("18446744073709551614..18446744073709551615"),
              ElementsAre(UINT64_MAX - 1, UINT64_MAX));
  EXPECT_EQ(parseSeeds("1..10000")->size(), 10'000u);
}

TEST(ParseSeeds, RefusesEverythingElse) {
  for (const char* text : {"", "x", "1,", "1..", "..2", "2..1", "1 2", "-1", "1..10001", "1,2..10001",
                           "0..18446744073709551615", "18446744073709551616"}) {
    EXPECT_FALSE(parseSeeds(text).ok()) << text;
  }
}

TEST(LoadScenario, SaysWhichFilesAreMissing) {
  ScenarioRequest request;
  request.scenario.truth = sim::TruthKind::kMeasured;
  EXPECT_THAT(loadScenario(request).error().message, HasSubstr("pass their paths with --corun"));
  request.coRunFiles = {"/nonexistent/pairs.csv"};
  EXPECT_THAT(loadScenario(request).error().message, HasSubstr("/nonexistent/pairs.csv: cannot be read"));
}

}  // namespace tarcil::scenario_file_test
