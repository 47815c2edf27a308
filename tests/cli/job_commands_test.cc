// What users ask of jobs, and do to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/running_tarcil.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::job_commands_test {

JobStatus aFinishedJob(const JobId& id) {
  JobStatus job = aJob(id, RunState::kFailed);
  TaskRecord& task = job.tasks[0];
  task.allocation = 7;
  task.server = "s1";
  task.rus = {0, 1};
  task.q = 0.75;
  task.s = 1;
  task.end.signal = 9;
  task.end.oomKilled = true;
  task.end.started = job.record.submitted + std::chrono::seconds(1);
  task.end.ended = job.record.submitted + std::chrono::seconds(2);
  return job;
}

Words keysOf(const Json& object) {
  Words keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST(JobWait, GoesOnWithTheNextAgent) {
  ClusterScript script;
  script.deadly = ClusterScript::Deadly::kWait;
  script.jobs = {aJob(idOf(1), RunState::kDone)};
  const ScriptedCluster cluster(script, 2);
  const ProcessResult result = tarcil({"job", "wait", "--json", toString(idOf(1))}, cluster);
  EXPECT_EQ(result.exitCode, 0) << result.err;
  EXPECT_EQ(jsonOf(result)[0]["state"], "done");
}

TEST(JobStatus, SaysOfWhichCronAJobIs) {
  ClusterScript script;
  script.jobs = {aFinishedJob(idOf(0xab))};
  script.jobs[0].record.cron = "nightly";
  script.jobs[0].record.planned = script.jobs[0].record.submitted;
  const ScriptedCluster cluster(script);
  EXPECT_THAT(tarcil({"job", "status", "ab00"}, cluster).out, testing::HasSubstr("nightly, planned "));
  const Json job = jsonOf(tarcil({"job", "status", "--json", "ab00"}, cluster));
  EXPECT_EQ(job["cron"], "nightly");
  EXPECT_EQ(job["planned"], job["submitted"]);
}

TEST(JobStatus, SaysWhichImageTheTasksRun) {
  ClusterScript script;
  script.jobs = {aFinishedJob(idOf(0xab))};
  script.jobs[0].record.spec.container.image = "docker://debian:12";
  {
    const ScriptedCluster cluster(script);
    const Json image = jsonOf(tarcil({"job", "status", "--json", "ab00"}, cluster))["image"];
    EXPECT_EQ(image["reference"], "docker://debian:12");
    EXPECT_EQ(image["digest"], nullptr) << "no task has started";
  }
  script.jobs[0].record.spec.container.imageDigest = "sha256:1";
  const ScriptedCluster cluster(script);
  for (const char* verb : {"status", "explain"}) {
    EXPECT_THAT(tarcil({"job", verb, "ab00"}, cluster).out, testing::HasSubstr("= sha256:1\n")) << verb;
    EXPECT_EQ(jsonOf(tarcil({"job", verb, "--json", "ab00"}, cluster))["image"]["digest"], "sha256:1");
  }
}

TEST(JobStatus, HasTheKeysThatScriptsRelyOn) {
  ClusterScript script;
  script.jobs = {aFinishedJob(idOf(0xab))};
  const ScriptedCluster cluster(script);
  const Json job = jsonOf(tarcil({"job", "status", "--json", "ab00"}, cluster));
  EXPECT_EQ(keysOf(job),
            (Words{"id", "number", "name", "user", "state", "reason", "ahead", "expected_start", "after",
                   "submitted", "profile_replaced", "finished", "cron", "planned", "image", "tasks"}));
  EXPECT_EQ(job["after"], nullptr);
  EXPECT_EQ(job["image"], nullptr);
  EXPECT_EQ(job["profile_replaced"], nullptr);
  EXPECT_EQ(job["submitted"], "2023-11-14T22:13:20.123456Z");
  const Json task = job["tasks"][0];
  for (const char* key : {"index", "state", "server", "rus", "q", "s", "exit_code", "signal", "oom_killed",
                          "submitted", "started", "finished", "attempt"}) {
    EXPECT_TRUE(task.contains(key)) << key;
  }
  EXPECT_EQ(task["signal"], 9);
  EXPECT_EQ(task["exit_code"], nullptr);
  EXPECT_EQ(task["oom_killed"], true);
  EXPECT_EQ(task["rus"], Json::array({0, 1}));
  EXPECT_EQ(task["extras"], Json::object());
}

TEST(JobStatus, SaysThatItsProfileIsNotTheOneItWasSubmittedWith) {
  ClusterScript script;
  script.jobs = {aFinishedJob(idOf(0xab)), aFinishedJob(idOf(0xcd))};
  script.jobs[0].record.spec.profile.application = "sort";
  script.jobs[0].record.profileReplaced = script.jobs[0].record.submitted;
  const ScriptedCluster cluster(script);
  for (const char* verb : {"status", "explain"}) {
    EXPECT_THAT(tarcil({"job", verb, "ab00"}, cluster).out,
                testing::HasSubstr(", by what was learned of sort"))
        << verb;
    EXPECT_THAT(tarcil({"job", verb, "cd00"}, cluster).out, testing::Not(testing::HasSubstr("learned")))
        << verb;
    EXPECT_EQ(jsonOf(tarcil({"job", verb, "--json", "ab00"}, cluster))["profile_replaced"],
              "2023-11-14T22:13:20.123456Z")
        << verb;
  }
}

TEST(JobStatus, ShowsTheExtrasOfEachTask) {
  ClusterScript script;
  script.jobs = {aFinishedJob(idOf(0xab)), aFinishedJob(idOf(0xcd))};
  script.jobs[0].record.spec.extras = {{"gpus", 3}};
  script.jobs[0].tasks[0].extras = {{"gpus", {0, 1, 3}}};
  const ScriptedCluster cluster(script);
  const Json job = jsonOf(tarcil({"job", "status", "--json", "ab00"}, cluster));
  EXPECT_EQ(job["tasks"][0]["extras"], Json::parse(R"({"gpus": [0, 1, 3]})"));
  EXPECT_NE(tarcil({"job", "status", "ab00"}, cluster).out.find("gpus 0-1,3"), std::string::npos);
  EXPECT_EQ(tarcil({"job", "status", "cd00"}, cluster).out.find("Extras"), std::string::npos);
}

TEST(JobStatus, SaysWhyAJobWaitsAndWhatIsAhead) {
  ClusterScript script;
  script.jobs = {aJob(idOf(0xab), RunState::kQueued)};
  script.jobs[0].progress.reason = "2 of 4 acceptable slots are free";
  script.jobs[0].ahead = 3;
  const ScriptedCluster cluster(script);
  const ProcessResult result = tarcil({"job", "status", "ab00"}, cluster);
  EXPECT_EQ(result.exitCode, 0);
  EXPECT_NE(result.out.find("= 2 of 4 acceptable slots are free\n"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("= 3 jobs\n"), std::string::npos) << result.out;
}

TEST(JobPrefix, MustNameOneJob) {
  ClusterScript script;
  script.jobs = {aJob(idOf(0xab, 1), RunState::kDone), aJob(idOf(0xab, 2), RunState::kDone),
                 aJob(idOf(0xcd), RunState::kDone)};
  const ScriptedCluster cluster(script);
  EXPECT_EQ(jsonOf(tarcil({"job", "status", "--json", "CD00"}, cluster))["id"], toString(idOf(0xcd)));
  const ProcessResult ambiguous = tarcil({"job", "status", "ab00"}, cluster);
  EXPECT_EQ(ambiguous.exitCode, 1);
  EXPECT_NE(ambiguous.err.find(toString(idOf(0xab, 2))), std::string::npos) << ambiguous.err;
  EXPECT_EQ(tarcil({"job", "status", "ef00"}, cluster).exitCode, 1);
}

TEST(JobNames, NumbersNamesAndIdsFindTheJob) {
  ClusterScript script;
  script.jobs = {aJob(idOf(0xab), RunState::kDone), aJob(idOf(0xcd), RunState::kDone)};
  script.jobs[1].record.spec.name = "sort-1";
  const ScriptedCluster cluster(script);
  for (const char* name : {"205", "205.0", "name:sort-1", "name:sort*", "id:cd00", "CD00"}) {
    const Json status = jsonOf(tarcil({"job", "status", "--json", name}, cluster));
    EXPECT_EQ(status["id"], toString(idOf(0xcd))) << name;
    EXPECT_EQ(status["number"], 205) << name;
  }
  const ProcessResult several = tarcil({"job", "status", "name:*"}, cluster);
  EXPECT_EQ(several.exitCode, 1);
  EXPECT_NE(several.err.find("several jobs have a name like *, among them 171, 205"), std::string::npos)
      << several.err;
  EXPECT_NE(tarcil({"job", "status", "7"}, cluster).err.find("no job has the number 7"), std::string::npos);
  EXPECT_NE(tarcil({"job", "status", "205.1"}, cluster).err.find("the job has no task 1: it has 1, from 0"),
            std::string::npos);
}

TEST(JobNames, MeanJobsThatAreNotOverBeforeOthers) {
  ClusterScript script;
  script.jobs = {aJob(idOf(0xab), RunState::kQueued), aJob(idOf(0xcd), RunState::kDone)};
  const ScriptedCluster cluster(script);
  EXPECT_EQ(jsonOf(tarcil({"job", "status", "--json", "name:*"}, cluster))["number"], 171);
}

TEST(JobList, ShowsColumnsForPeopleAndAnArrayForScripts) {
  ClusterScript script;
  script.jobs = {aJob(idOf(0xab), RunState::kQueued)};
  const ScriptedCluster cluster(script);
  const Json list = jsonOf(tarcil({"job", "list", "--json"}, cluster));
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["id"], toString(idOf(0xab)));
  EXPECT_EQ(list[0]["number"], 0xab);
  const ProcessResult people = tarcil({"job", "list"}, cluster);
  EXPECT_TRUE(people.out.starts_with("Job  Name   User   State")) << people.out;
  EXPECT_NE(people.out.find("171  train  alice  queued"), std::string::npos) << people.out;
  EXPECT_TRUE(people.out.ends_with("<none>\n")) << people.out;
}

TEST(JobList, IsSortedByAColumn) {
  ClusterScript script;
  script.jobs = {aJob(idOf(1), RunState::kRunning), aJob(idOf(2), RunState::kDone),
                 aJob(idOf(3), RunState::kDone)};
  script.jobsAPage = 2;
  const ScriptedCluster cluster(script);
  const auto numbers = [&cluster](const Words& options) {
    Words words = {"job", "list", "--json"};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<uint64_t> found;
    for (const Json& job : jsonOf(tarcil(words, cluster))) found.push_back(job["number"]);
    return found;
  };
  EXPECT_EQ(numbers({"--sort", "state"}), (std::vector<uint64_t>{2, 3, 1}));
  EXPECT_EQ(numbers({"--sort", "state", "--limit", "1"}), (std::vector<uint64_t>{2})) << "of all";
  EXPECT_EQ(numbers({"--sort", "number", "--reverse"}), (std::vector<uint64_t>{3, 2, 1}));
  EXPECT_EQ(numbers({"--reverse"}), (std::vector<uint64_t>{3, 2, 1}));
}

TEST(JobList, SaysWhetherThereAreMore) {
  ClusterScript script;
  script.jobs = {aJob(idOf(1), RunState::kDone), aJob(idOf(2), RunState::kDone)};
  const ScriptedCluster cluster(script);
  EXPECT_THAT(tarcil({"job", "list", "--limit", "1"}, cluster).err,
              testing::HasSubstr("these are 1; there are more"));
  EXPECT_EQ(tarcil({"job", "list", "--limit", "2"}, cluster).err, "");
}

TEST(JobWait, FailsWhereAnyJobDid) {
  ClusterScript script;
  script.jobs = {aJob(idOf(1), RunState::kDone), aJob(idOf(2), RunState::kFailed)};
  const ScriptedCluster cluster(script);
  EXPECT_EQ(tarcil({"job", "wait", "id:0100"}, cluster).exitCode, 0);
  EXPECT_EQ(tarcil({"job", "wait", "id:0200", "id:0100"}, cluster).exitCode, 1);
}

TEST(JobWait, ForAnyIsOverWithTheFirst) {
  ClusterScript script;
  script.jobs = {aJob(idOf(1), RunState::kRunning), aJob(idOf(2), RunState::kFailed)};
  const ScriptedCluster cluster(script);
  const ProcessResult result = tarcil({"job", "wait", "--any", "--json", "1", "2"}, cluster);
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_EQ(jsonOf(result)[0]["state"], nullptr);
  EXPECT_EQ(jsonOf(result)[1]["state"], "failed");
}

TEST(JobWait, EndsWithItsTimeoutAndShowsWhatIsOver) {
  ClusterScript script;
  script.jobs = {aJob(idOf(1), RunState::kRunning), aJob(idOf(2), RunState::kDone)};
  const ScriptedCluster cluster(script);
  const ProcessResult result = tarcil({"job", "wait", "--timeout", "10ms", "1", "2"}, cluster);
  EXPECT_EQ(result.exitCode, 124);
  EXPECT_THAT(result.out, testing::HasSubstr("1    not over"));
  EXPECT_THAT(result.err, testing::HasSubstr("not over after 10ms"));
  EXPECT_EQ(tarcil({"job", "wait", "--timeout", "1h", "2"}, cluster).exitCode, 0);
}

TEST(JobCancel, TakesThoseThatPassAFilter) {
  ClusterScript script;
  script.jobs = {aJob(idOf(1), RunState::kRunning), aJob(idOf(2), RunState::kRunning)};
  const ScriptedCluster cluster(script);
  EXPECT_EQ(tarcil({"job", "cancel", "--all"}, cluster).exitCode, 0);
  EXPECT_EQ(cluster.record().cancelled, (std::vector<JobId>{idOf(1), idOf(2)}));
  EXPECT_THAT(cluster.record().listedStates,
              testing::ElementsAre(RunState::kQueued, RunState::kStarting, RunState::kRunning));
  tarcil({"job", "cancel", "--state", "running", "--name", "so", "--user", "ann"}, cluster);
  EXPECT_THAT(cluster.record().listedStates, testing::ElementsAre(RunState::kRunning));
  EXPECT_EQ(cluster.record().listedName, "so");
  EXPECT_EQ(cluster.record().listedUser, "ann");
}

// Each page is read entry by entry, within what a message may be read over.
TEST(JobCancel, TakesManyMoreThanAPage) {
  ClusterScript script;
  for (int i = 0; i < 2'500; ++i) {
    script.jobs.push_back(aJob(idOf(static_cast<uint8_t>(i)), RunState::kRunning));
    script.jobs.back().record.id.bytes[14] = static_cast<uint8_t>(i >> 8);
    script.jobs.back().progress.id = script.jobs.back().record.id;
    script.jobs.back().record.spec.name = std::string(100, 'n');
  }
  const ScriptedCluster cluster(script);
  const ProcessResult result = tarcil({"job", "cancel", "--all", "--json"}, cluster);
  EXPECT_EQ(result.exitCode, 0) << result.err;
  EXPECT_EQ(cluster.record().cancelled.size(), 2'500u);
}

TEST(JobCancel, RefusesAFilterThatIsEmpty) {
  ClusterScript script;
  script.jobs = {aJob(idOf(1), RunState::kRunning)};
  const ScriptedCluster cluster(script);
  for (const char* flag : {"--user", "--name", "--since", "--state"}) {
    const ProcessResult result = tarcil({"job", "cancel", "--state", "running", flag, ""}, cluster);
    EXPECT_EQ(result.exitCode, 2) << flag;
    EXPECT_THAT(result.err, testing::HasSubstr(std::string(flag) + ": is empty")) << flag;
  }
  EXPECT_TRUE(cluster.record().cancelled.empty());
}

TEST(JobCancel, IsForWholeJobs) {
  ClusterScript script;
  script.jobs = {aJob(idOf(1), RunState::kRunning)};
  const ScriptedCluster cluster(script);
  const ProcessResult result = tarcil({"job", "cancel", "1.0"}, cluster);
  EXPECT_EQ(result.exitCode, 2);
  EXPECT_THAT(result.err,
              testing::HasSubstr("'1.0' is one task of a job, and this is done to whole jobs; write 1"));
  EXPECT_TRUE(cluster.record().cancelled.empty());
}

TEST(JobCancel, TakesSeveralJobs) {
  ClusterScript script;
  script.jobs = {aJob(idOf(1), RunState::kRunning), aJob(idOf(2), RunState::kRunning)};
  const ScriptedCluster cluster(script);
  EXPECT_EQ(tarcil({"job", "cancel", "id:0100", "id:0200"}, cluster).exitCode, 0);
  EXPECT_EQ(cluster.record().cancelled, (std::vector<JobId>{idOf(1), idOf(2)}));
}

TEST(JobCancel, SaysOfAJobThatWasOverHowItHadEnded) {
  ClusterScript script;
  script.jobs = {aJob(idOf(1), RunState::kFailed), aJob(idOf(2), RunState::kRunning)};
  const ScriptedCluster cluster(script);
  const Json json = jsonOf(tarcil({"job", "cancel", "--json", "id:0100", "id:0200"}, cluster));
  EXPECT_EQ(json[0]["cancelled"], false);
  EXPECT_EQ(json[0]["state"], "failed");
  EXPECT_EQ(json[1]["cancelled"], true);
  EXPECT_EQ(json[1]["state"], "running");
  const ProcessResult people = tarcil({"job", "cancel", "id:0100"}, cluster);
  EXPECT_EQ(people.exitCode, 0);
  EXPECT_EQ(people.out, "Was over = 1 (failed)\n");
}

TEST(JobExplain, GivesOneEntryForEachTaskWithWhatWasChosen) {
  ClusterScript script;
  script.jobs = {aFinishedJob(idOf(0xab))};
  script.servers.resize(1);
  script.servers[0].facts.name = "s1";
  DecisionRecord decision;
  decision.job = idOf(0xab);
  decision.tasks = {0};
  decision.explanation.wanted = 1;
  decision.explanation.drawn = 12;
  decision.explanation.acceptable = 6;
  decision.explanation.dropped[static_cast<size_t>(Dropped::kQuality)] = 6;
  decision.explanation.best.resize(1);
  decision.explanation.best[0].server = 0;
  decision.explanation.best[0].slack.fill(Vacancy::kUnbounded);
  decision.explanation.best[0].contention[4] = 3;
  decision.explanation.best[0].slack[4] = 12;
  script.decisions = {decision};
  const ScriptedCluster cluster(script);
  const Json entry = jsonOf(tarcil({"job", "explain", "--json", "ab00"}, cluster))["decision"][0];
  EXPECT_EQ(entry["task"], 0);
  EXPECT_EQ(entry["drawn"], 12);
  EXPECT_EQ(entry["p"], 0.5);
  EXPECT_EQ(entry["dropped"], (Json{{"quality", 6}}));
  EXPECT_EQ(entry["best"][0]["server"], "s1");
  EXPECT_EQ(entry["best"][0]["contention"]["llc"], 3);
  EXPECT_EQ(entry["best"][0]["slack"]["llc"], 12);
  EXPECT_EQ(entry["best"][0]["slack"]["tlb"], nullptr) << "nobody there bounds it";
  EXPECT_EQ(entry["chosen"], (Json{{"server", "s1"}, {"rus", {0, 1}}, {"q", 0.75}, {"s", 1.0}}));
  for (const char* key : {"p", "ratio", "guarantee", "seed"}) EXPECT_TRUE(entry.contains(key)) << key;
  for (const char* key : {"rus", "u_h", "q", "s", "platform", "slack"})
    EXPECT_TRUE(entry["best"][0].contains(key)) << key;
  const ProcessResult people = tarcil({"job", "explain", "ab00"}, cluster);
  EXPECT_NE(people.out.find("6 quality"), std::string::npos) << people.out;
}

TEST(JobLogs, PrintsWhatTheTaskWroteByteForByte) {
  ClusterScript script;
  script.tasks = {{"the first\nline and\tmore", "an error\n", RunState::kDone, {}}};
  const ScriptedCluster cluster(script);
  const ScratchFolder folder;
  folder.write("job.yaml", "command: [\"true\"]\n");
  const std::string id = jsonOf(tarcil({"submit", "--json", folder.at("job.yaml")}, cluster))["job"];
  EXPECT_EQ(tarcil({"job", "logs", id}, cluster).out, script.tasks[0].out);
  EXPECT_EQ(tarcil({"job", "logs", "-f", "--stderr", id}, cluster).out, script.tasks[0].err);
  EXPECT_EQ(tarcil({"job", "logs", "--task", "1", id}, cluster).exitCode, 1);
}

TEST(JobLogs, SayWhereTheyCannotBeWritten) {
  ClusterScript script;
  script.tasks = {{std::string(1 << 20, 'x'), "", RunState::kDone, {}}};
  const ScriptedCluster cluster(script);
  const ScratchFolder folder;
  folder.write("job.yaml", "command: [\"true\"]\n");
  const std::string id = jsonOf(tarcil({"submit", "--json", folder.at("job.yaml")}, cluster))["job"];
  const auto piped = [&](const std::string& to) {
    return runProcess({"/bin/bash", "-c", "\"$0\" job logs \"$1\" " + to, TARCIL_BINARY, id},
                      cluster.environment());
  };
  const ProcessResult full = piped("> /dev/full");
  EXPECT_EQ(full.exitCode, 1);
  EXPECT_EQ(full.err, "tarcil: cannot write to stdout: No space left on device\n");
  const ProcessResult unread = piped("| head -c 1; exit ${PIPESTATUS[0]}");
  EXPECT_EQ(unread.exitCode, 141) << "as any other program";
  EXPECT_EQ(unread.err, "");
}

TEST(JobLogs, AsJsonHoldBothStreamsOfEveryTask) {
  ClusterScript script;
  script.tasks = {{"one\n", "", RunState::kDone, {}}, {"", "an error", RunState::kFailed, {}}};
  script.jobs = {aJob(idOf(0xab), RunState::kQueued)};
  const ScriptedCluster cluster(script);
  const ScratchFolder folder;
  folder.write("job.yaml", "command: [\"true\"]\ntasks: 2\n");
  const std::string id = jsonOf(tarcil({"submit", "--json", folder.at("job.yaml")}, cluster))["job"];
  const Json first = {{"task", 0}, {"stdout", "one\n"}, {"stderr", ""}};
  const Json second = {{"task", 1}, {"stdout", ""}, {"stderr", "an error"}};
  EXPECT_EQ(jsonOf(tarcil({"job", "logs", "--json", id}, cluster)),
            (Json{{"id", id}, {"number", kNumberOfSubmitted}, {"tasks", {first, second}}}));
  EXPECT_EQ(jsonOf(tarcil({"job", "logs", "--json", "--task", "1", id}, cluster))["tasks"],
            Json::array({second}));
  const Json waiting = jsonOf(tarcil({"job", "logs", "--json", "ab00"}, cluster));
  EXPECT_EQ(waiting["tasks"][0]["stdout"], nullptr);
}

TEST(JobLogs, OfATaskThatWaitsSaySoAtOnce) {
  ClusterScript script;
  script.jobs = {aJob(idOf(0xab), RunState::kQueued)};
  const ScriptedCluster cluster(script);
  const ProcessResult result = tarcil({"job", "logs", "ab00"}, cluster);
  EXPECT_EQ(result.exitCode, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "tarcil: task 0 is queued, and has written nothing yet; -f waits for it\n");
}

}  // namespace tarcil::job_commands_test
