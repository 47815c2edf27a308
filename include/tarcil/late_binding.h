// Hands many very short tasks to a tarcil cluster and hears what becomes of them (docs/late-binding.md). This
// header needs nothing but the standard library; link with tarcil_client.
//
//   struct Print : tarcil::LateBindingListener {
//     void taskOver(const tarcil::LateBindingResult& result) override { ... }
//   } print;
//   tarcil::LateBindingClient client({.agents = {"10.0.0.1:7101", "10.0.0.2:7101"}, .token = token}, print);
//   client.submit({.command = {"./solve"}, .tasks = 100});
//   client.wait();
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tarcil {

struct LateBindingSettings {
  std::vector<std::string> agents;  // host:port or unix:/path, in the order of use; at least one
  std::string token;                // of role submit or operate
  // An agent that says nothing for `deadAfter` is dead, and the next is used. heartbeat < deadAfter.
  std::chrono::milliseconds heartbeat{30};
  std::chrono::milliseconds deadAfter{90};
  // File with the certificate of the cluster's authority, by which agents on other machines are known.
  // Without it these are refused, unless `insecure`: then the token goes to them in clear.
  std::string authorityFile{};
  bool insecure = false;
};

// Where tasks run, as with placement.require and placement.prefer in job files.
struct LateBindingServers {
  // Names of servers, of which one will do, and conditions, which all must hold: "rack = r1". A task waits
  // while none of these servers is up.
  std::vector<std::string> require{};
  std::vector<std::string> prefer{};  // names of servers that hold its data
};

struct LateBindingJob {
  std::string name = "late-bound";
  // What each task runs, told apart by TARCIL_TASK in its environment; with an executor, what it is handed.
  std::vector<std::string> command;
  // Command of a process that is started once and runs many tasks one after the other. Empty: each task is a
  // process of its own.
  std::vector<std::string> executor{};
  // By task, bytes for the executor in place of the command; empty, or one for each task.
  std::vector<std::string> descriptions{};
  std::map<std::string, std::string> environment{};
  uint32_t tasks = 1;
  uint8_t priority = 50;  // 0 to 100, higher first
  // A task that may have run when its server or agent is lost: reported as lost, or run again.
  bool atMostOnce = false;
  std::chrono::microseconds timeout{0};    // of a task; 0: none
  std::vector<std::string> constraints{};  // on servers, as in job files: "gpu = true", "rack != r3"
  LateBindingServers servers{};            // of all tasks
  // By task: what it requires besides, and what it prefers in place of what others do.
  std::map<uint32_t, LateBindingServers> serversOfTask{};
  // The profile of one task, by resource ("llc", "memory_bandwidth" and others, docs/job-file.md), 0 to 99:
  // the pressure that it causes, and bears. Servers hold back tasks that would disturb others; empty:
  // unknown.
  std::map<std::string, int> caused{}, tolerated{};
  double probeRatio = 0;  // reservations for each task, 1 to 100; 0: the agent's
};

struct LateBindingTask {
  uint64_t job = 0;   // as submit() numbered it
  uint32_t task = 0;  // from 0
};

struct LateBindingResult {
  enum class Outcome : uint8_t {
    kDone,       // it ran to its end; `code` says how
    kLost,       // at most once: it may have run
    kCancelled,  // it did not run, or was stopped; `problem` says why where the job was refused
  };

  LateBindingTask task;
  Outcome outcome = Outcome::kDone;
  // Exit code, 128 + n where signal n ended it, 124 where it took longer than its timeout, 125 where it could
  // not be started.
  int32_t code = 0;
  uint32_t attempts = 0;  // how often it was given to a server
  std::string server{};   // the last of these; may be empty
  std::string problem{};
  // Where its time went; of tasks that ran to an end.
  std::chrono::microseconds reserve{0}, queue{0}, getTask{0}, service{0};
};

// Called on the client's own thread, one call after the other. It may call submit() and cancel(), and should
// not take long: a client that is kept from reading is as good as stopped.
class LateBindingListener {
 public:
  virtual ~LateBindingListener() = default;

  // Once for each task.
  virtual void taskOver(const LateBindingResult& result) = 0;
  // This agent is taken for dead, and these tasks were in its hands. Those of jobs that run at most once are
  // reported as lost next; the others are handed to the next agent, and may run twice.
  virtual void agentFailed(const std::string&, const std::vector<LateBindingTask>&) {}
  // The agents do not accept the token: nothing will ever run.
  virtual void denied(const std::string&) {}
};

// Its methods may be called on any thread.
class LateBindingClient {
 public:
  // Connects in the background, and goes on trying. Throws std::invalid_argument, saying what is wrong with
  // the settings. `listener` outlives the client.
  LateBindingClient(LateBindingSettings settings, LateBindingListener& listener);
  // Tasks that no server has yet are dropped; the listener hears nothing more.
  ~LateBindingClient();
  LateBindingClient(const LateBindingClient&) = delete;
  LateBindingClient& operator=(const LateBindingClient&) = delete;

  // The job's number. Throws std::invalid_argument, saying what is wrong with the job; what only the cluster
  // can know shows as cancelled tasks.
  uint64_t submit(const LateBindingJob& job);
  // Its tasks that no server has yet come back as cancelled; so do those that run, which get SIGTERM, and
  // SIGKILL after the job's grace, unless they exit with 0. What an executor runs ends with that.
  void cancel(uint64_t job);
  // Until every task submitted so far is over. Not on the client's own thread.
  void wait();

 private:
  class Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace tarcil
