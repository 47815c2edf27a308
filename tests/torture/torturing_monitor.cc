#include "tests/torture/torturing_monitor.h"

#include <kj/debug.h>

#include <algorithm>

#include "schema/convert.h"
#include "schema/convert_support.h"
#include "tests/torture/master_process.h"

namespace tarcil::torture {
namespace {

using convert::readNumbers;
using convert::text;

constexpr uint64_t kMaxUntilStart = 5'000;  // microseconds
constexpr uint64_t kMaxUntilEnd = 80'000;
constexpr uint64_t kLongTask = 3'000'000;
constexpr uint64_t kMaxUntilStopped = 10'000;
constexpr uint64_t kMaxViolationInterval = 1'000'000;

}  // namespace

class TorturingMonitor::Control final : public wire::MonitorControl::Server {
 public:
  explicit Control(TorturingMonitor& monitor) : monitor_(monitor) {}

  kj::Promise<void> stop(StopContext context) override {
    const StopOrdered event{readNumbers<uint64_t>(context.getParams().getAllocations())};
    monitor_.stage_.history.note(event);
    for (AllocationId allocation : event.allocations) monitor_.stop(allocation);
    return kj::READY_NOW;
  }

 private:
  TorturingMonitor& monitor_;
};

TorturingMonitor::TorturingMonitor(Stage& stage, std::string name, std::vector<ServerFacts> servers)
    : stage_(stage),
      name_(std::move(name)),
      servers_(std::move(servers)),
      link_(stage, kMonitorToken, [this](MasterLink::Login&& login) { return attach(kj::mv(login)); }),
      tasks_(*this) {
  tasks_.add(live());
}

TorturingMonitor::~TorturingMonitor() noexcept = default;

bool TorturingMonitor::standsFor(const std::string& server) const {
  return std::any_of(servers_.begin(), servers_.end(), [&server](const auto& s) { return s.name == server; });
}

bool TorturingMonitor::quiet() const {
  const bool nothingToDo = std::none_of(known_.begin(), known_.end(), [](const auto& entry) {
    const Task& task = entry.second;
    return task.stopping || task.state != Task::State::kRunning;
  });
  return link_.attached() && unreported_.empty() && !reporting_ && nothingToDo;
}

kj::Promise<void> TorturingMonitor::attach(MasterLink::Login&& login) {
  MonitorAttaching event{++stage_.lastCall, name_, servers_, {}};
  for (const auto& [allocation, task] : known_) {
    if (!task.server.empty()) event.tasks.push_back({allocation, task.server});
  }
  wire::MonitorPort::Client port = login.getMonitor();
  auto request = port.attachRequest();
  request.setMonitor(text(name_));
  auto servers = request.initServers(static_cast<uint32_t>(event.servers.size()));
  for (uint32_t i = 0; i < event.servers.size(); ++i) write(event.servers[i], servers[i]);
  auto tasks = request.initTasks(static_cast<uint32_t>(event.tasks.size()));
  for (uint32_t i = 0; i < event.tasks.size(); ++i) write(event.tasks[i], tasks[i]);
  request.setControl(kj::heap<Control>(*this));
  stage_.history.note(event);
  return request.send().then([this, call = event.call, port = kj::mv(port)](auto&& response) mutable {
    const MonitorAttached event{call, readNumbers<uint64_t>(response.getDrop()),
                                readNumbers<uint64_t>(response.getStop())};
    stage_.history.note(event);
    for (AllocationId allocation : event.drop) forget(allocation);
    for (AllocationId allocation : event.stop) stop(allocation);
    port_ = kj::mv(port);
    report();
  });
}

// --- Tasks ------------------------------------------------------------------------------------------------

void TorturingMonitor::launch(AllocationId allocation, const std::string& server) {
  if (over_.contains(allocation) || !known_.emplace(allocation, Task{server}).second) return;
  tasks_.add(stage_.pause(kMaxUntilStart).then([this, allocation]() { start(allocation); }));
}

void TorturingMonitor::start(AllocationId allocation) {
  const auto found = known_.find(allocation);
  if (found == known_.end() || found->second.state != Task::State::kLaunched) return;
  Task& task = found->second;
  task.state = Task::State::kRunning;
  task.end.started = WallTime(Duration(1));
  unreported_.insert(allocation);
  report();
  if (!task.stopping) endLater(allocation, stage_.chance(20) ? kLongTask : kMaxUntilEnd);
}

void TorturingMonitor::endLater(AllocationId allocation, uint64_t mostMicroseconds) {
  tasks_.add(stage_.pause(mostMicroseconds).then([this, allocation]() { end(allocation); }));
}

void TorturingMonitor::end(AllocationId allocation) {
  const auto found = known_.find(allocation);
  if (found == known_.end() || found->second.state == Task::State::kEnded) return;
  Task& task = found->second;
  if (!stage_.acting && !task.stopping) return;  // what runs at the end of the run stays
  const WallTime started = task.end.started;
  task.end = randomEnd();
  if (task.stopping) task.end.cause = EndCause::kCancelled;
  task.end.started = started;
  task.state = Task::State::kEnded;
  task.stopping = false;
  unreported_.insert(allocation);
  report();
}

TaskEnd TorturingMonitor::randomEnd() const {
  TaskEnd end;
  end.ended = WallTime(Duration(2));
  switch (stage_.rng.below(10)) {
    case 0:
      end.exitCode = 1;
      break;
    case 1:
      end.signal = 9;
      break;
    case 2:
      end.cause = EndCause::kTimedOut;
      break;
    default:
      break;
  }
  return end;
}

// Of a task that is not known yet the end is reported at once, and its launch is refused.
void TorturingMonitor::stop(AllocationId allocation) {
  if (over_.contains(allocation)) return;
  const auto [found, isNew] = known_.emplace(allocation, Task{});
  Task& task = found->second;
  if (task.state == Task::State::kEnded) return;
  task.stopping = true;
  if (isNew) {
    end(allocation);
  } else {
    endLater(allocation, kMaxUntilStopped);
  }
}

void TorturingMonitor::forget(AllocationId allocation) {
  known_.erase(allocation);
  unreported_.erase(allocation);
  over_.insert(allocation);
}

// --- Reports ----------------------------------------------------------------------------------------------

void TorturingMonitor::report() {
  if (reporting_ || unreported_.empty() || port_ == nullptr) return;
  reporting_ = true;
  ReportsSent event{++stage_.lastCall, {}};
  for (AllocationId allocation : unreported_) {
    const Task& task = known_.at(allocation);
    event.reports.push_back({allocation, task.state == Task::State::kEnded, task.end});
  }
  auto request = KJ_ASSERT_NONNULL(port_).reportRequest();
  auto reports = request.initReports(static_cast<uint32_t>(event.reports.size()));
  for (uint32_t i = 0; i < event.reports.size(); ++i) write(event.reports[i], reports[i]);
  stage_.history.note(event);
  tasks_.add(request.send().ignoreResult().then(
      [this, event]() {
        stage_.history.note(ReportsAnswered{event.call});
        reported(event.reports);
      },
      [this](kj::Exception&&) {
        reporting_ = false;
        port_ = nullptr;
        link_.cut();  // attaching anew repeats what was not answered
      }));
}

void TorturingMonitor::reported(const std::vector<TaskReport>& reports) {
  reporting_ = false;
  for (const TaskReport& report : reports) {
    const auto found = known_.find(report.allocation);
    if (found == known_.end()) continue;
    const bool hasEnded = found->second.state == Task::State::kEnded;
    if (report.ended) {
      forget(report.allocation);
    } else if (!hasEnded) {
      unreported_.erase(report.allocation);
    }
  }
  report();
}

// --- Faults -----------------------------------------------------------------------------------------------

kj::Promise<void> TorturingMonitor::live() {
  return stage_.pause(kMaxViolationInterval).then([this]() {
    if (stage_.acting && link_.attached()) {
      if (stage_.chance(3)) crash();
      link_.cut(stage_.chance(4) ? 200'000 : 0);
    }
    return live();
  });
}

// A machine that comes back knows nothing of what ran on it; what had been launched may be launched again.
void TorturingMonitor::crash() {
  const std::string& server = servers_[stage_.rng.below(servers_.size())].name;
  std::erase_if(known_, [this, &server](const auto& entry) {
    if (entry.second.server != server) return false;
    unreported_.erase(entry.first);
    return true;
  });
}

void TorturingMonitor::taskFailed(kj::Exception&& exception) {
  KJ_LOG(FATAL, name_, exception);
}

}  // namespace tarcil::torture
