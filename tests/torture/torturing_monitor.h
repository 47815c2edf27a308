// A monitor whose tasks are entries of a table: they start, end and are stopped after random times, and
// are reported until the report is answered, as docs/protocol.md asks. Its machine may crash, with all
// that it knew.
#pragma once

#include <kj/async.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "schema/master.capnp.h"
#include "tests/torture/master_link.h"

namespace tarcil::torture {

class TorturingMonitor final : private kj::TaskSet::ErrorHandler {
 public:
  TorturingMonitor(Stage& stage, std::string name, std::vector<ServerFacts> servers);
  ~TorturingMonitor() noexcept;

  bool standsFor(const std::string& server) const;
  // Starts the task unless it is known already, or was stopped before it arrived, or is over.
  void launch(AllocationId allocation, const std::string& server);

  // Attached, every report answered, no task that is to be stopped.
  bool quiet() const;

 private:
  class Control;
  struct Task {
    std::string server;  // empty where it was stopped before its launch came
    enum class State { kLaunched, kRunning, kEnded } state = State::kLaunched;
    bool stopping = false;
    TaskEnd end{};
  };

  kj::Promise<void> attach(MasterLink::Login&& login);
  void start(AllocationId allocation);
  void endLater(AllocationId allocation, uint64_t mostMicroseconds);
  void end(AllocationId allocation);
  void stop(AllocationId allocation);
  void forget(AllocationId allocation);
  TaskEnd randomEnd() const;

  // Tells all that the master has not acknowledged, one call at a time.
  void report();
  void reported(const std::vector<TaskReport>& reports);

  // Loses its connection, or all tasks of one server, at random, for ever.
  kj::Promise<void> live();
  void crash();

  void taskFailed(kj::Exception&& exception) override;

  Stage& stage_;
  const std::string name_;
  const std::vector<ServerFacts> servers_;
  std::map<AllocationId, Task> known_;
  std::set<AllocationId> over_;  // what was acknowledged, or stopped before it arrived: not to be started
  std::set<AllocationId> unreported_;
  bool reporting_ = false;
  kj::Maybe<wire::MonitorPort::Client>
      port_;  // none before the first attachment and after a report that failed
  MasterLink link_;
  kj::TaskSet tasks_;
};

}  // namespace tarcil::torture
