#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/running_tarcil.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::sim_command_test {

using testing::HasSubstr;
using testing::StartsWith;

const Words kSmall = {"sim", "--servers", "10", "--rus-per-server", "4", "--jobs", "50", "--tasks", "2"};

Words smallWith(Words more) {
  more.insert(more.begin(), kSmall.begin(), kSmall.end());
  return more;
}

TEST(SimCommand, PrintsOneObjectForOneRun) {
  const ProcessResult result = tarcil(smallWith({"--policy", "batch", "--seed", "3", "--json"}));
  ASSERT_EQ(result.exitCode, 0) << result.err;
  const Json run = jsonOf(result);
  EXPECT_EQ(run["policy"], "batch");
  EXPECT_EQ(run["servers"], 10);
  EXPECT_EQ(run["rus"], 40);
  EXPECT_EQ(run["jobs"], 45);
  EXPECT_EQ(run["seed"], 3);
  EXPECT_EQ(run["violations"], 0);
  for (const char* key : {"load", "utilisation", "conflicts"}) EXPECT_TRUE(run[key].is_number()) << key;
  for (const char* key : {"response_ms", "ideal_ms"}) {
    for (const char* part : {"mean", "p50", "p95", "p99"}) EXPECT_GT(run[key][part], 0) << key << part;
  }
  for (const char* part : {"mean", "p5", "p1", "at_least_95"}) EXPECT_TRUE(run["performance"].contains(part));
  for (const char* key : {"at_once", "streams", "moments"}) EXPECT_TRUE(run.contains(key)) << key;
  for (const char* key : {"performance_curve", "quality_curve"}) EXPECT_EQ(run[key].size(), 101u) << key;
  for (const char* part : {"mean", "p5"}) EXPECT_TRUE(run["resident_quality"].contains(part)) << part;
  for (const char* part : {"mean", "p5"}) EXPECT_TRUE(run["quality"].contains(part)) << part;
  for (const char* part : {"mean", "p95"}) EXPECT_TRUE(run["wait_ms"].contains(part)) << part;
  for (const char* part : {"p50", "p99"}) EXPECT_TRUE(run["decision_us"].contains(part)) << part;
}

TEST(SimCommand, ComparesJobByJobWithThePolicyIdealWhereThatRan) {
  const Words policies = {"--policy", "ideal,quality,random", "--seeds", "1,2", "--load", "0.9"};
  Words withJson = policies;
  withJson.push_back("--json");
  const Json runs = jsonOf(tarcil(smallWith(withJson)));
  ASSERT_EQ(runs.size(), 6u);
  for (const Json& run : runs) {
    const double mean = run["of_ideal_policy"]["mean"];
    if (run["policy"] == "ideal") {
      EXPECT_EQ(mean, 1);
    } else {
      EXPECT_LT(mean, 1);
      EXPECT_GT(mean, run["performance"]["mean"]) << "the policy ideal has to do with servers in use, too";
    }
  }
  EXPECT_THAT(tarcil(smallWith(policies)).out, testing::HasSubstr("Of ideal %"));
  const Words alone = {"--policy", "quality", "--seed", "1"};
  EXPECT_THAT(tarcil(smallWith(alone)).out, testing::Not(testing::HasSubstr("Of ideal")));
}

TEST(SimCommand, ShowsWhatNoScheduleCanPass) {
  const Words policies = {"--policy", "bound,ideal", "--seeds", "1,2", "--load", "0.9"};
  Words withJson = policies;
  withJson.push_back("--json");
  const Json runs = jsonOf(tarcil(smallWith(withJson)));
  ASSERT_EQ(runs.size(), 4u);
  for (size_t seed = 0; seed < 2; ++seed) {
    const Json &bound = runs[seed], &ideal = runs[seed + 2];
    EXPECT_EQ(bound["policy"], "bound");
    EXPECT_EQ(bound["jobs"], ideal["jobs"]);
    EXPECT_GE(bound["performance"]["mean"], ideal["performance"]["mean"]);
    EXPECT_TRUE(bound["performance"]["p5"].is_null()) << "of no run";
    EXPECT_TRUE(bound["of_ideal_policy"].is_null());
  }
  EXPECT_THAT(tarcil(smallWith(policies)).out, HasSubstr("\nbound "));
}

TEST(SimCommand, PrintsTheSameForTheSameSeedsHoweverTheyAreSpreadOverTheCores) {
  const Words arguments = smallWith({"--policy", "quality,random", "--seeds", "1..3", "--json"});
  const ProcessResult first = tarcil(arguments), second = tarcil(arguments);
  ASSERT_EQ(first.exitCode, 0) << first.err;
  EXPECT_EQ(first.out, second.out);
  const Json runs = jsonOf(first);
  ASSERT_EQ(runs.size(), 6u);
  EXPECT_EQ(runs[3]["policy"], "random");
  EXPECT_EQ(runs[3]["seed"], 1);
  const ProcessResult alone = tarcil(smallWith({"--policy", "random", "--seed", "2", "--json"}));
  EXPECT_EQ(jsonOf(alone), runs[4]);
}

TEST(SimCommand, ShowsATableOfPolicies) {
  const ProcessResult result = tarcil(smallWith({"--policy", "quality,ideal", "--no-interference"}));
  ASSERT_EQ(result.exitCode, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\nPolicy "));
  EXPECT_THAT(result.out, HasSubstr("\nquality "));
  EXPECT_THAT(result.out, HasSubstr("\nideal "));
}

TEST(SimCommand, LaysFlagsOverTheScenario) {
  const ScratchFolder folder;
  folder.write("s.yaml",
               "name: mine\n"
               "cluster: {servers: 5, rus: 4}\n"
               "workload: {kind: 'swf:t.swf', jobs: 1, warm_up: 0}\n"
               "policies: [random]\n"
               "seeds: 7\n");
  folder.write("t.swf",
               "1 0 -1 10 2 -1 -1 -1 -1 -1 -1 1 1 1 -1 -1 -1 -1\n"
               "2 5 -1 10 2 -1 -1 -1 -1 -1 -1 1 1 1 -1 -1 -1 -1\n");
  const Json asWritten = jsonOf(tarcil({"sim", folder.at("s.yaml"), "--json"}));
  EXPECT_EQ(asWritten["scenario"], "mine");
  EXPECT_EQ(asWritten["jobs"], 1);
  EXPECT_EQ(asWritten["seed"], 7);
  const Json laidOver = jsonOf(
      tarcil({"sim", folder.at("s.yaml"), "--jobs", "2", "--policy", "batch", "--seed", "1", "--json"}));
  EXPECT_EQ(laidOver["jobs"], 2);
  EXPECT_EQ(laidOver["policy"], "batch");
}

TEST(SimCommand, RefusesBadInputAndRunsNothing) {
  const ScratchFolder folder;
  folder.write("bad.swf", "1 0 -1 x 2 -1 -1 -1 -1 -1 -1 1 1 1 -1 -1 -1 -1\n");
  const std::pair<Words, std::string> cases[] = {
      {{"sim", "--policy", "fastest"}, "tarcil: --policy: is 'fastest'; write one of quality, greedy,"},
      {{"sim", "--workload", "swf:" + folder.at("bad.swf")},
       "tarcil: " + folder.at("bad.swf") + ":1:8: run time: is 'x'; write a whole number"},
      {{"sim", "--workload", "swf:/nonexistent"}, "tarcil: /nonexistent: cannot be read"},
      {{"sim", "--load", "0"}, "tarcil: load: is 0; write a number from 0.001 to 10"},
      {{"sim", "--mean-ms", "-1"}, "tarcil: --mean-ms: does not fit"},
      {{"sim", "--rtt-ms", "nan"}, "tarcil: --rtt-ms: does not fit"},
      {{"sim", "--seed", "1..0"}, "tarcil: --seed: is '1..0'; write seeds"},
      {{"sim", "--corun", "/nonexistent.csv"}, "tarcil: /nonexistent.csv: cannot be read"},
      {{"sim", "/nonexistent.yaml"}, "tarcil: /nonexistent.yaml: cannot be read"},
      {{"sim", "--servers", "0"}, "tarcil: "},
  };
  for (const auto& [arguments, problem] : cases) {
    const ProcessResult result = tarcil(arguments);
    EXPECT_EQ(result.exitCode, 2) << arguments.back();
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith(problem));
  }
}

TEST(SimCommand, ReadsTheScenarioOfTheFigure) {
  const ProcessResult result =
      tarcil({"sim", std::string(TARCIL_SOURCE_DIR) + "/bench/figures/large_scale.yaml", "--jobs", "50",
              "--policy", "random", "--json"});
  ASSERT_EQ(result.exitCode, 0) << result.err;
  EXPECT_EQ(jsonOf(result)["rus"], 4'176);
  EXPECT_EQ(jsonOf(result)["servers"], 400);
}

TEST(SimCommand, LooksForFaults) {
  const ProcessResult result = tarcil({"sim", "--faults", "--seeds", "1..3", "--events", "2000", "--json"});
  ASSERT_EQ(result.exitCode, 0) << result.err << result.out;
  const Json found = jsonOf(result);
  EXPECT_EQ(found["histories"], 3);
  EXPECT_GE(found["events"], 6'000);
  EXPECT_GT(found["faults"], 0);
  EXPECT_TRUE(found["faults_by_kind"].contains("master dies"));
  EXPECT_TRUE(found["violation"].is_null());
}

TEST(SimCommand, SaysForPeopleHowOftenEachFaultHappened) {
  const ProcessResult result = tarcil({"sim", "--faults", "--seeds", "1", "--events", "2000"});
  ASSERT_EQ(result.exitCode, 0) << result.err << result.out;
  EXPECT_THAT(result.out, HasSubstr("\nmaster dies "));
  EXPECT_THAT(result.out, HasSubstr("Broken promises"));
}

TEST(SimCommand, RefusesAScenarioToLookForFaultsIn) {
  EXPECT_EQ(tarcil({"sim", "--faults", "some.yaml"}).exitCode, 2);
  EXPECT_EQ(tarcil({"sim", "--events", "2000"}).exitCode, 2);
}

}  // namespace tarcil::sim_command_test
