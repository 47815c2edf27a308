// Clusters of real processes for tests: the roles are started, killed and started again; the cluster is used
// through the commands.
#pragma once

#include <signal.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deploy/local_cluster.h"
#include "formats/json.h"
#include "tests/support/process.h"
#include "tests/support/virtual_network.h"

namespace tarcil {

// A folder of its own that any user may write into: where tasks leave traces. Gone with the object, which
// also ends the loops of gatedCommand().
class TraceFolder final {
 public:
  TraceFolder();
  ~TraceFolder();
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;

  std::string at(const std::string& name) const { return path_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const;
  // In the order of writing; empty where there is no such file.
  std::vector<std::string> lines(const std::string& name) const;
  // Fails the test and returns false when it takes longer than 60 s.
  bool waitForLines(const std::string& name, size_t count) const;

  // Shell that appends the task's index to `name`.
  std::string note(const std::string& name) const;
  // Shell that goes on when the file `gate` is there, and at the latest when the folder is gone.
  std::string waitForGate() const;
  void openGate() const { write("gate", ""); }
  // Shell that holds a lock of its attempt as long as the task lives, and notes in `overlap` where another
  // attempt holds its own.
  std::string holdLock() const;
  // Whether this attempt lives.
  bool isHeld(uint32_t attempt) const;

 private:
  std::string path_;
};

// A file of one emulated server of two units in it, for `up --emulate`.
std::string emulatedServer(const TraceFolder& folder);

// A job file whose tasks run this script; `more` holds further fields, a line each.
std::string shellJob(const std::string& script, const std::string& more = "");

// What all clusters have in common: a data folder and the commands.
class TestCluster {
 public:
  TestCluster();
  virtual ~TestCluster();
  TestCluster(const TestCluster&) = delete;
  TestCluster& operator=(const TestCluster&) = delete;

  std::string data() const { return folder_ + "/data"; }
  TraceFolder& traces() { return traces_; }

  // A command of tarcil on this cluster, ended after a minute at the latest (exit code 124).
  Process startCommand(std::vector<std::string> arguments, Environment more = {}) const;
  ProcessResult run(std::vector<std::string> arguments, Environment more = {}) const;
  // As run(), as another user of this machine.
  ProcessResult runAs(const std::string& user, std::vector<std::string> arguments,
                      Environment more = {}) const;
  // As run(), with --json; fails the test where the exit code is not `exitCode`, and throws where there is
  // no JSON.
  Json json(std::vector<std::string> arguments, int exitCode = 0) const;

  // Writes a job file of this text below the cluster's folder; its path.
  std::string jobFile(const std::string& yaml) const;
  // Submits and does not wait; the job's id.
  std::string submit(const std::string& yaml) const;
  Json status(const std::string& job) const { return json({"job", "status", job}); }
  // Waits for the job's end; its status.
  Json ended(const std::string& job) const;
  // Fails the test when `holds` does not become true within 60 s.
  void until(const std::string& what, const std::function<bool()>& holds) const;
  // The processes that stand over the tasks of a server (tarcil-shim).
  std::vector<pid_t> shimsOf(const std::string& server) const;
  // No unit of any server is taken, all servers up; waits for the servers to be up.
  void expectAllUnitsFree() const;

 protected:
  Environment environment() const;
  void printLogs() const;

  std::vector<std::string> commandPrefix_;  // before the words of each command
  std::string folder_;
  TraceFolder traces_;
};

// `tarcil up --detach`: the supervisor starts again what dies.
class SupervisedCluster final : public TestCluster {
 public:
  explicit SupervisedCluster(std::vector<std::string> arguments);
  ~SupervisedCluster() override;

  // kill -9 by the pid that `up` told; once for each process.
  void kill(const std::string& name) const { ::kill(pidOf(name), SIGKILL); }
  // Of the process that `up` started.
  pid_t pidOf(const std::string& name) const { return pids_.at(name); }
  // What the supervisor has told so far.
  std::string log() const;
  // The supervisor has told that this process is back.
  void waitForReturn(const std::string& name) const;

 private:
  std::map<std::string, pid_t> pids_;
};

struct ClusterPlan {
  uint32_t servers = 1;
  uint32_t rus = 4;  // of each
  uint32_t agents = 1;
  uint32_t masters = 1;                        // more than one: "master-1", "master-2", ...
  std::string etcd = {};                       // URLs of the one that has the store; empty: a folder has it
  std::string emulate = {};                    // file, instead of servers
  std::string failing = {};                    // name of a process ("master", "agent-1", "server-1") ...
  std::string failpoint = {};                  // ... that dies there, and is started again without it ...
  bool staysDead = false;                      // ... unless so: then start() does
  int failingWith = 128 + 9;                   // how it ends there, as a shell tells it
  std::vector<std::string> monitorFlags = {};  // more arguments of each monitor
  std::vector<std::string> masterFlags = {};   // ... and of the master
  std::vector<std::string> withoutFlags = {};  // that processes would have
  // Options of the process of a name, with values, in place of those it would have.
  std::map<std::string, std::map<std::string, std::string>> optionsOf = {};
  // Shell that goes before the process of a name, such as "ulimit -n 256".
  std::map<std::string, std::string> shellOf = {};
  // More lines for the master's file of tokens.
  std::string moreTokens = {};
  std::vector<std::string> notYet = {};  // processes that the test starts itself
  bool hasPage = false;                  // a gateway, too
  // Each process is on the host of its name, and reached by TCP; commands are on the host "user".
  VirtualNetwork* network = nullptr;
};

// The processes of the same cluster, each started by the test: what dies stays dead until start().
class ManualCluster final : public TestCluster {
 public:
  explicit ManualCluster(ClusterPlan plan);
  ~ManualCluster() override;

  // Returns when it serves.
  void start(const std::string& name);
  void kill(const std::string& name);
  // Goes on as it is after that, but for what the signal does.
  void signal(const std::string& name, int number);
  pid_t pidOf(const std::string& name) const { return processes_.at(name)->pid(); }
  // Waits until the process has ended by itself; how.
  ProcessResult endOf(const std::string& name);
  pid_t pid(const std::string& name) const { return processes_.at(name)->pid(); }
  // Where it listens.
  const std::string& addressOf(const std::string& name) const { return command(name).address; }
  // What it has logged so far.
  std::string logOf(const std::string& name) const;
  // The failpoint has been reached; fails the test when it is not within 60 s.
  void waitForFailure() const;
  bool hasFailed() const;

 private:
  const RoleCommand& command(const std::string& name) const;
  void spreadOverHosts();
  std::string deathNote() const { return folder_ + "/death"; }

  const ClusterPlan plan_;
  LocalCluster roles_;
  std::map<std::string, std::unique_ptr<Process>> processes_;
};

// Why containers cannot be run here; empty where they can.
std::string whyNoProcesses();

#define SKIP_WITHOUT_CONTAINERS() \
  if (const std::string reason = whyNoProcesses(); !reason.empty()) GTEST_SKIP() << reason

}  // namespace tarcil
