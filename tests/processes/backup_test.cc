// The master's store is backed up and restored under clusters that went on in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "master/store/rocks/rocks_store.h"
#include "tests/support/cluster.h"

namespace tarcil::backup_test {

namespace fs = std::filesystem;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;

std::string backupOf(const TestCluster& cluster) {
  return cluster.data() + "/backup";
}

// Nothing is wrong with it either.
void backUp(const TestCluster& cluster, const std::string& name = "/backup") {
  const ProcessResult result = cluster.run({"master", "backup", cluster.data() + name});
  ASSERT_EQ(result.exitCode, 0) << result.err;
  const ProcessResult check = cluster.run({"master", "check", cluster.data() + name});
  EXPECT_EQ(check.exitCode, 0) << check.out << check.err;
}

// The store's place is taken by the backup. Requires: the master is dead.
void restore(const TestCluster& cluster) {
  const std::string store = cluster.data() + "/master/store";
  fs::rename(store, store + ".lost");
  const ProcessResult result = cluster.run({"master", "restore", backupOf(cluster), "--store", store});
  ASSERT_EQ(result.exitCode, 0) << result.err;
}

// Says that it runs, goes on when the gate is open, says that it ends.
std::string gated(const TraceFolder& traces, const std::string& name) {
  return shellJob(traces.note(name) + traces.waitForGate() + traces.note(name + "-ended"));
}

// One unit each: a job that runs when the backup is taken, and one that is over when it is restored; with
// `after`, submitted later, all units are in use.
struct History {
  std::string running, ending, after;
};

History backUpAndGoOn(TestCluster& cluster) {
  TraceFolder& traces = cluster.traces();
  History jobs;
  jobs.running = cluster.submit(gated(traces, "running"));
  jobs.ending = cluster.submit(shellJob(traces.note("ending") + "while ! [ -e " + traces.at("end") +
                                        " ]; do sleep 0.02; done; " + traces.note("ending-ended")));
  traces.waitForLines("running", 1);
  traces.waitForLines("ending", 1);
  cluster.until("both are running", [&cluster, &jobs]() {
    return cluster.status(jobs.running)["state"] == "running" &&
           cluster.status(jobs.ending)["state"] == "running";
  });
  backUp(cluster);
  jobs.after = cluster.submit(gated(traces, "after"));
  traces.waitForLines("after", 1);
  traces.write("end", "");
  EXPECT_EQ(cluster.ended(jobs.ending)["state"], "done");
  return jobs;
}

// What holds once a master runs on the restored store.
void expectTheBackupGoesOn(TestCluster& cluster, const History& jobs) {
  TraceFolder& traces = cluster.traces();
  // Needs every unit but one, so the unit of the task that is stopped too.
  const ProcessResult next = cluster.run({"run", "--tasks", "2", "--", "true"});
  EXPECT_EQ(next.exitCode, 0) << next.err;
  const ProcessResult gone = cluster.run({"job", "status", jobs.after});
  EXPECT_EQ(gone.exitCode, 1);
  EXPECT_THAT(gone.err, HasSubstr("there is no job"));
  const ProcessResult inUse = cluster.run({"master", "check", cluster.data() + "/master/store"});
  EXPECT_EQ(inUse.exitCode, 2);
  EXPECT_THAT(inUse.err, HasSubstr("a master uses this store"));
  traces.openGate();
  EXPECT_EQ(cluster.ended(jobs.running)["state"], "done");
  EXPECT_EQ(cluster.ended(jobs.ending)["state"], "done");
  EXPECT_EQ(traces.lines("running").size(), 1u);
  EXPECT_EQ(traces.lines("running-ended").size(), 1u);
  EXPECT_THAT(traces.lines("ending-ended").size(), Ge(2));  // its end was forgotten with the store
  EXPECT_THAT(traces.lines("after-ended"), IsEmpty());
  cluster.expectAllUnitsFree();
  backUp(cluster, "/after");
}

TEST(Backup, GoesOnWhereAllProcessesWereKilled) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 3});
  const History jobs = backUpAndGoOn(cluster);
  for (const char* name : {"agent-1", "server-1", "master"}) cluster.kill(name);
  restore(cluster);
  for (const char* name : {"master", "server-1", "agent-1"}) cluster.start(name);
  expectTheBackupGoesOn(cluster, jobs);
}

TEST(Backup, GoesOnAmongAgentsAndMonitorsThatStayed) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 3});
  const History jobs = backUpAndGoOn(cluster);
  cluster.kill("master");
  restore(cluster);
  cluster.start("master");
  expectTheBackupGoesOn(cluster, jobs);
}

TEST(Backup, IsTakenAtTheNextStart) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 3});
  const History jobs = backUpAndGoOn(cluster);
  const std::string store = cluster.data() + "/master/store";
  const auto restoreTo = [&cluster](const std::string& folder) {
    return cluster.run({"master", "restore", backupOf(cluster), "--store", folder, "--at-next-start"});
  };
  const ProcessResult wrong = restoreTo(cluster.data() + "/master");
  EXPECT_EQ(wrong.exitCode, 2);
  EXPECT_THAT(wrong.err, HasSubstr("holds no store; name the one that the master uses"));
  EXPECT_FALSE(fs::exists(cluster.data() + "/master.next"));
  const ProcessResult result = restoreTo(store);
  EXPECT_EQ(result.exitCode, 0) << result.err;
  EXPECT_THAT(restoreTo(store).err, HasSubstr("a restored store waits there"));
  EXPECT_THAT(result.out,
              HasSubstr("`kill " + std::to_string(cluster.pidOf("master")) + "` ends the master"));
  EXPECT_EQ(cluster.status(jobs.after)["state"], "running") << "until then nothing changes";
  cluster.kill("master");
  cluster.start("master");
  expectTheBackupGoesOn(cluster, jobs);
}

TEST(Backup, MayBeRestoredAgain) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 3});
  const History jobs = backUpAndGoOn(cluster);
  cluster.kill("master");
  restore(cluster);
  cluster.start("master");
  EXPECT_EQ(cluster.run({"run", "--", "true"}).exitCode, 0);
  cluster.kill("master");
  fs::remove_all(cluster.data() + "/master/store.lost");
  restore(cluster);
  cluster.start("master");
  expectTheBackupGoesOn(cluster, jobs);
}

TEST(Backup, CutShortLeavesNothingThatLooksWhole) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 1, .failing = "master", .failpoint = "master.copy_unnamed"});
  // The client repeats the call at the next master, which finds what the first one left.
  const ProcessResult cut = cluster.run({"master", "backup", backupOf(cluster)});
  cluster.waitForFailure();
  EXPECT_EQ(cut.exitCode, 1) << cut.err;
  EXPECT_THAT(cut.err, HasSubstr(backupOf(cluster) + ".part: is what an interrupted copy left"));
  EXPECT_FALSE(fs::exists(backupOf(cluster)));
  fs::remove_all(backupOf(cluster) + ".part");
  backUp(cluster);
}

TEST(AStartThatDoesNotFit, SaysSoAndGoesOnWithoutAJob) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 1});
  TraceFolder& traces = cluster.traces();
  const std::string running = cluster.submit(gated(traces, "running"));
  traces.waitForLines("running", 1);
  const std::string waiting = cluster.submit("command: [\"true\"]\n");
  cluster.kill("master");
  const auto serve = [&cluster](std::vector<std::string> more) {
    more.insert(more.begin(), {"serve", "master", "--data", cluster.data()});
    return cluster.startCommand(std::move(more));
  };
  const ProcessResult full = serve({"--max-jobs-size", "1KiB"}).finish();
  EXPECT_EQ(full.exitCode, 2);
  EXPECT_THAT(full.err, HasSubstr(running));
  EXPECT_THAT(full.err, HasSubstr("--drop-job ID"));
  const ProcessResult unknown = serve({"--drop-job", std::string(32, 'a')}).finish();
  EXPECT_EQ(unknown.exitCode, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no job " + std::string(32, 'a')));
  {
    Process master = serve({"--drop-job", running});
    ASSERT_TRUE(master.waitFor("ready"));
    master.signal(SIGTERM);
    master.finish();
  }
  cluster.start("master");
  EXPECT_EQ(cluster.ended(waiting)["state"], "done");
  EXPECT_EQ(cluster.run({"job", "status", running}).exitCode, 1);
  cluster.expectAllUnitsFree();
  EXPECT_THAT(traces.lines("running-ended"), IsEmpty());
}

TEST(AMasterThatIsReadOnly, ShowsAStoreThatDoesNotFitAndChangesNothing) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 1});
  TraceFolder& traces = cluster.traces();
  const std::string running = cluster.submit(gated(traces, "running"));
  traces.waitForLines("running", 1);
  const std::string waiting = cluster.submit("command: [\"true\"]\n");
  cluster.until("it runs", [&]() { return cluster.status(running)["state"] == "running"; });
  cluster.kill("master");
  const std::string store = cluster.data() + "/master/store";
  const auto listing = [&store]() {
    std::map<std::string, std::pair<uintmax_t, fs::file_time_type>> files;
    for (const auto& file : fs::directory_iterator(store)) {
      files[file.path().filename()] = {file.file_size(), file.last_write_time()};
    }
    return files;
  };
  const auto before = listing();
  const std::vector<std::string> serve = {"serve", "master", "--data", cluster.data()};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const ProcessResult both = cluster.run(with(serve, {"--read-only", "--drop-job", running}));
  EXPECT_EQ(both.exitCode, 2);
  EXPECT_THAT(both.err, HasSubstr("--drop-job: changes the store"));

  Process master = cluster.startCommand(with(serve, {"--read-only", "--max-jobs-size", "1KiB"}));
  ASSERT_TRUE(master.waitFor("ready"));
  const std::vector<std::string> there = {"--cluster", "unix:" + cluster.data() + "/run/master.sock",
                                          "--token-file", cluster.data() + "/tokens/operate.token"};
  EXPECT_EQ(cluster.json(with({"job", "status", running}, there))["state"], "running");
  EXPECT_EQ(cluster.json(with({"job", "list"}, there)).size(), 2u);
  for (const std::vector<std::string>& shown : {std::vector<std::string>{"job", "explain", running},
                                                {"queue"},
                                                {"usage"},
                                                {"profile", "list"},
                                                {"agent", "list"},
                                                {"platform", "list"},
                                                {"buckets"},
                                                {"server", "show", "server-1"}}) {
    const ProcessResult result = cluster.run(with(shown, there));
    EXPECT_EQ(result.exitCode, 0) << shown[0] << ": " << result.err;
  }
  EXPECT_THAT(cluster.run(with({"server", "list"}, there)).err,
              HasSubstr("warning: this master is read-only (--read-only)"));
  const std::string job = cluster.jobFile("command: [\"true\"]\n");
  for (const std::vector<std::string>& refused : {std::vector<std::string>{"submit", job},
                                                  {"plan", job},
                                                  {"job", "cancel", waiting},
                                                  {"job", "hold", waiting},
                                                  {"job", "wait", waiting},
                                                  {"server", "cordon", "server-1"},
                                                  {"master", "backup", backupOf(cluster)}}) {
    const ProcessResult result = cluster.run(with(refused, there));
    EXPECT_EQ(result.exitCode, 1) << refused[0];
    EXPECT_THAT(result.err, HasSubstr("this master is read-only (--read-only)")) << refused[0];
  }
  // At an agent, which cannot attach.
  const ProcessResult atAgent = cluster.run({"job", "list"});
  EXPECT_EQ(atAgent.exitCode, 3);
  EXPECT_THAT(atAgent.err, HasSubstr("refuses: this master is read-only (--read-only)"));
  EXPECT_THAT(cluster.logOf("server-1"), HasSubstr("refuses: this master is read-only (--read-only)"));
  const ProcessResult second = cluster.run(serve);
  EXPECT_EQ(second.exitCode, 2);
  EXPECT_THAT(second.err, HasSubstr("no other master using it"));
  master.signal(SIGTERM);
  EXPECT_EQ(master.finish().exitCode, 0);
  EXPECT_EQ(listing(), before);

  cluster.start("master");
  traces.openGate();
  EXPECT_EQ(cluster.ended(running)["state"], "done");
  EXPECT_EQ(cluster.ended(waiting)["state"], "done");
  EXPECT_THAT(traces.lines("running"), testing::SizeIs(1));
}

TEST(Backup, IsForOperatorsAndForFoldersThatAreFree) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 1});
  const ProcessResult denied =
      cluster.run({"master", "backup", "--cluster", "unix:" + cluster.data() + "/run/agent-1.sock",
                   "--token-file", cluster.data() + "/tokens/submit.token", backupOf(cluster)});
  EXPECT_EQ(denied.exitCode, 3) << denied.err;
  EXPECT_FALSE(fs::exists(backupOf(cluster)));
  backUp(cluster);
  const ProcessResult taken = cluster.run({"master", "backup", backupOf(cluster)});
  EXPECT_EQ(taken.exitCode, 1);
  EXPECT_THAT(taken.err, HasSubstr("is there already and not empty"));
  const ProcessResult missing =
      cluster.run({"master", "restore", cluster.data() + "/log", "--store", cluster.data() + "/new"});
  EXPECT_EQ(missing.exitCode, 2);
  EXPECT_THAT(missing.err, HasSubstr("holds no store"));
  const ProcessResult unchecked = cluster.run({"master", "check", cluster.data() + "/log"});
  EXPECT_EQ(unchecked.exitCode, 2);
  EXPECT_THAT(unchecked.err, HasSubstr("holds no store"));
}

TEST(Backup, WithAProblemIsNamedByTheCheck) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 1});
  backUp(cluster);
  {
    auto store = openRocksStore(backupOf(cluster));
    ASSERT_TRUE(store.ok()) << store.error().message;
    const std::vector<Mutation> orphan{Put{JobProgress{}}};
    ASSERT_TRUE((*store)->write(orphan).ok());
  }
  const ProcessResult check = cluster.run({"master", "check", backupOf(cluster)});
  EXPECT_EQ(check.exitCode, 1);
  EXPECT_EQ(check.out, "p/" + std::string(32, '0') + ": there is no such job\n");
  const Json json = cluster.json({"master", "check", backupOf(cluster)}, 1);
  EXPECT_EQ(json[0]["problem"], "there is no such job");
}

}  // namespace tarcil::backup_test
