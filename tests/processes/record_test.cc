// A running cluster recorded, and the recording replayed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include "env/clock.h"
#include "formats/recording_part.h"
#include "tests/support/cluster.h"
#include "tests/support/process.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::record_test {

using testing::HasSubstr;

constexpr const char* kServers = R"yaml(servers:
  - {name: "s-{n}", count: 3, rus: 2, platform: haswell}
)yaml";

// Alone it takes half a second.
constexpr const char* kJob = R"yaml(command: [work]
tasks: 2
env: {TARCIL_EMULATE_SECONDS: "0.5"}
profile: {caused: {llc: 50}, tolerated: {llc: 60}}
)yaml";

std::string written(const ScratchFolder& folder) {
  folder.write("servers.yaml", kServers);
  return folder.at("servers.yaml");
}

struct Record : testing::Test {
  // Those of a replay, what really happened first.
  Json replayed(const std::string& file, const std::string& target) const {
    return cluster.json({"sim", "--replay", file, "--policy", "quality", "--target", target});
  }

  ScratchFolder folder;
  ManualCluster cluster{{.emulate = written(folder)}};
};

TEST_F(Record, GoesOnAcrossAMastersDeathAndIsReplayedUnderTwoTargets) {
  const std::string file = folder.at("r.gz"), before = cluster.submit(kJob);
  cluster.ended(before);
  Process recorder = cluster.startCommand({"record", "--json", file});
  ASSERT_TRUE(recorder.waitFor("recording to"));
  for (int i = 0; i < 4; ++i) cluster.ended(cluster.submit(kJob));
  cluster.kill("master");
  cluster.start("master");
  for (int i = 0; i < 2; ++i) cluster.ended(cluster.submit(kJob));
  recorder.signal(SIGINT);
  const ProcessResult ended = recorder.finish();
  EXPECT_EQ(ended.exitCode, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("3 servers, 6 jobs, 0 of them unfinished"));
  const Json recorded = Json::parse(ended.out);
  EXPECT_EQ(recorded["jobs"], 6);
  EXPECT_EQ(recorded["ended"], "interrupted");
  EXPECT_GT(recorded["unpacked_bytes"], std::filesystem::file_size(file));
  for (const char* target : {"0.95", "0.6"}) {
    const Json runs = replayed(file, target);
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0]["policy"], "recorded");
    EXPECT_EQ(runs[0]["servers"], 3);
    EXPECT_EQ(runs[0]["rus"], 6);
    for (const Json& run : runs) {
      EXPECT_EQ(run["jobs"], 6) << "those that came before are not in it";
      EXPECT_GE(run["response_ms"]["mean"], 490);
    }
  }
}

TEST(RecordOfLateBoundJobs, HasThemBesideTheOthers) {
  SKIP_WITHOUT_CONTAINERS();
  ScratchFolder folder;
  ManualCluster cluster({.rus = 2});
  const std::string file = folder.at("r");
  Process recorder = cluster.startCommand({"record", file});
  ASSERT_TRUE(recorder.waitFor("recording to"));
  const std::string late = "policy: late-binding\npriority: 70\ncommand: [sleep, '0.2']\ntasks: 3\n";
  EXPECT_EQ(cluster.json({"submit", "--wait", cluster.jobFile(late)})["state"], "done");
  cluster.ended(cluster.submit("command: [sleep, '0.1']\n"));
  cluster.until("the file holds both jobs", [&]() {
    std::ifstream written(file);
    const std::string text((std::istreambuf_iterator<char>(written)), {});
    return text.find("late-binding\"") != std::string::npos && text.find("\"quality\"") != std::string::npos;
  });
  recorder.signal(SIGINT);
  const ProcessResult ended = recorder.finish();
  EXPECT_EQ(ended.exitCode, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("1 server, 2 jobs, 0 of them unfinished"));
  std::ifstream lines(file);
  // A job that is seen while it runs comes again when it has ended.
  std::set<std::pair<std::string, uint32_t>> tasks;
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line);
    if (json.contains("job") && json["job"]["policy"] == "late-binding") {
      EXPECT_EQ(json["job"]["priority"], 70);
    }
    if (!json.contains("progress")) continue;
    const Json& progress = json["progress"];
    for (const Json& task : progress["tasks"]) tasks.emplace(progress["job"], task["index"]);
  }
  EXPECT_EQ(tasks.size(), 4u);
  const Json run = cluster.json({"sim", "--replay", file, "--policy", "quality"})[0];
  EXPECT_EQ(run["jobs"], 2);
}

TEST_F(Record, ThatWasKilledLeavesAUsableFile) {
  const std::string file = folder.at("r.gz");
  // Itself, and not below timeout(1), which would be what is killed.
  Process recorder({TARCIL_BINARY, "record", file}, {{"TARCIL_DATA", cluster.data()}});
  ASSERT_TRUE(recorder.waitFor("recording to"));
  cluster.ended(cluster.submit(kJob));
  // Written at the latest with the look after the next job is there.
  cluster.until("the file holds a job", [&]() {
    return cluster.run({"sim", "--replay", file}).exitCode == 0;
  });
  recorder.signal(SIGKILL);
  recorder.finish();
  EXPECT_EQ(replayed(file, "0.9")[0]["jobs"], 1);
}

TEST_F(Record, OfTheLastHoursGoesOnInPartsAndIsReplayedWithoutAGap) {
  Process recorder = cluster.startCommand({"record", "--last", "1m", "--most", "1MiB", folder.at("day")});
  ASSERT_TRUE(recorder.waitFor("keeping the last"));
  // A part is a 24th of a minute.
  const auto parts = [&]() {
    return std::distance(std::filesystem::directory_iterator(folder.at("day")), {});
  };
  int submitted = 0;
  while (parts() < 3) {
    cluster.ended(cluster.submit(kJob));
    ++submitted;
  }
  recorder.signal(SIGINT);
  const ProcessResult ended = recorder.finish();
  EXPECT_EQ(ended.exitCode, 0) << ended.err;
  EXPECT_EQ(replayed(folder.at("day"), "0.9")[0]["jobs"], submitted);
}

TEST_F(Record, OfTheLastHoursForgetsWhatIsOlderAndWhatIsTooMuch) {
  const auto before = [](int hours) {
    return nameOfPart(systemClock().now().wall - std::chrono::hours(hours));
  };
  const std::string old = before(3), large = before(2);
  std::filesystem::create_directory(folder.at("day"));
  folder.write("day/" + old, "old");
  folder.write("day/" + large, std::string(2 << 20, 'x'));
  folder.write("day/mine.txt", "mine");
  std::filesystem::last_write_time(folder.at("day/" + old),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(3));
  Process recorder = cluster.startCommand({"record", "--last", "1m", "--most", "1MiB", folder.at("day")});
  cluster.until("the oldest are gone", [&]() {
    return !std::filesystem::exists(folder.at("day/" + old)) &&
           !std::filesystem::exists(folder.at("day/" + large));
  });
  EXPECT_TRUE(std::filesystem::exists(folder.at("day/mine.txt"))) << "of others nothing goes";
  recorder.signal(SIGINT);
  recorder.finish();
  for (const char* last : {"1s", "2000h", "soon"}) {
    const ProcessResult wrong = cluster.run({"record", "--last", last, folder.at("x")});
    EXPECT_EQ(wrong.exitCode, 2) << last;
    EXPECT_THAT(wrong.err, HasSubstr("--last: "));
  }
}

TEST_F(Record, OfAFileThatIsThereOrWithoutAClusterChangesNothing) {
  folder.write("r", "mine");
  const ProcessResult there = cluster.run({"record", folder.at("r"), "--for", "1s"});
  EXPECT_EQ(there.exitCode, 2);
  EXPECT_THAT(there.err, HasSubstr("is there already; name another file"));
  EXPECT_EQ(cluster.run({"record", folder.at("x"), "--for", "ever"}).exitCode, 2);
  cluster.kill("agent-1");
  EXPECT_EQ(cluster.run({"record", folder.at("x")}).exitCode, 3);
  EXPECT_FALSE(std::filesystem::exists(folder.at("x")));
}

}  // namespace tarcil::record_test
