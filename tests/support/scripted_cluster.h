// Agents as a client sees them, whose answers a test writes down beforehand: real sockets and real RPC in a
// thread of their own, and nothing behind them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/output/job_status.h"
#include "core/base/result.h"
#include "core/decide/job_plan.h"
#include "core/decide/options.h"
#include "core/model/result_files.h"
#include "core/state/server.h"
#include "core/state/stored_profile.h"
#include "core/state/usage.h"
#include "tests/support/scratch_folder.h"

namespace tarcil {

// What becomes of one task of every job that is submitted.
struct ScriptedTask {
  std::string out, err;
  RunState state = RunState::kDone;
  TaskEnd end;
  size_t dropped = 0;   // bytes at the beginning of `out`
  std::string first{};  // what an attempt before, which has ended, wrote to stdout; empty: there was none
  bool isGone = false;  // its output
};

struct ScriptedServer {
  ServerFacts facts;
  ServerStatus status;
  Pressure contention{};
  std::string reason{};
  bool draining = false;
  WallTime asideUntil = kNever;
  struct Task {
    JobId job;
    TaskIndex index = 0;
    std::vector<RuIndex> rus;
    Pressure caused{};
    std::vector<uint8_t> over;
    Pressure tolerated{};
    ExtraNumbers extras{};
  };
  std::vector<Task> tasks;
};

// Of the jobs that are submitted to it.
inline constexpr JobNumber kNumberOfSubmitted = 4711;

struct ClusterScript {
  // --- Jobs that are submitted ---
  std::vector<ScriptedTask> tasks = {{}};  // task i of a job goes as tasks[i % size]
  std::vector<ResultFile> files{};         // kept of each task; the content of each is its path
  bool runsUntilCancelled = false;         // writes its output, then stays until cancelled by SIGTERM
  bool ignoresCancel = false;
  std::optional<Error> refusal;  // of submissions and plans
  size_t hangingAgents = 0;      // so many of the first take connections and never answer a login
  // The first agent that gets this call dies of it, without an answer; a submission is taken all the same.
  enum class Deadly { kNothing, kSubmit, kWait } deadly = Deadly::kNothing;

  // --- What is there from the start ---
  std::vector<JobStatus> jobs;
  size_t jobsAPage = 1000;   // of a list
  size_t tasksAPage = 2000;  // of a job
  size_t serversAPage = 500;
  size_t entriesAPage = 1000;             // of usage, platforms and profiles
  std::vector<DecisionRecord> decisions;  // of every job
  std::vector<ScriptedServer> servers;
  std::vector<uint32_t> tasksLeft;  // on a server being drained, as one look after the other sees it
  std::vector<Usage> usage;
  std::map<std::string, Share> platforms;
  std::vector<StoredProfile> profiles;  // by application
  QualitySettings settings;
  JobPlan plan;  // of every job, with the seed that was asked for
};

class ScriptedCluster final {
 public:
  explicit ScriptedCluster(ClusterScript script, size_t agents = 1);
  ~ScriptedCluster();

  // Leads a command here, with the right token.
  std::map<std::string, std::string> environment() const;
  std::vector<std::string> addresses() const;
  std::string tokenFile() const { return folder_.at("token"); }

  // What was asked so far.
  struct Record {
    std::vector<JobSpec> submitted;  // one for each id
    std::vector<std::vector<InputFile>> files;
    size_t submissions = 0;  // calls, repeats included
    std::vector<JobSpec> planned;
    std::vector<JobId> cancelled;
    std::vector<uint64_t> taken;  // up to where stdout of tasks has arrived, as the client said each time
    // Of the latest list.
    std::string listedUser, listedName;
    std::vector<RunState> listedStates;
    WallTime listedSince = kNever;
    // "drain s1 60000000": what was done to which server, with the deadline.
    std::vector<std::string> steered;
    std::optional<QualitySettings> settings;
    std::map<std::string, Share> platforms;
  };
  Record record() const;

 private:
  struct State;
  class Server;

  ScratchFolder folder_;
  std::unique_ptr<State> state_;
  std::unique_ptr<Server> server_;
};

}  // namespace tarcil
