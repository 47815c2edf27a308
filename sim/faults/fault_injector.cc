#include "sim/faults/fault_injector.h"

#include <algorithm>
#include <numeric>

#include "sim/faults/mixed_jobs.h"

namespace tarcil::sim {
namespace {

using namespace std::chrono_literals;

// Clocks are off by up to a hundredth, which no clock of a machine is.
constexpr uint64_t kMaxPpm = 10'000;

constexpr std::array<std::string_view, kFaults> kNames = {
    "master dies",
    "store fails",
    "store is slow",
    "backup is restored",
    "agent dies",
    "agent dies midway",
    "agent is doubled",
    "agent is cut off",
    "agent's link breaks",
    "copy is spoilt",
    "monitor dies",
    "monitor dies midway",
    "monitor shuts down",
    "monitor is cut off",
    "monitor's link breaks",
    "machine is lost",
    "starts fail",
    "server shrinks",
    "clock jumps",
    "disk runs low",
    "disk is full",
    "queues are short",
    "descriptors run out",
    "memory runs out",
    "master is paused",
    "master is cut off from etcd",
    "master steps down",
};

const Caller kSteering{"root", Role::kOperate, {}};

}  // namespace

std::string_view name(Fault fault) {
  return kNames[static_cast<size_t>(fault)];
}

FaultInjector::FaultInjector(VirtualCluster& cluster, std::vector<std::vector<ServerFacts>> servers,
                             const MasterOptions& master)
    : cluster_(cluster), servers_(std::move(servers)), master_(master) {
  const auto pace = [this](MachineClock& clock) {
    clock.runBy(static_cast<int64_t>(cluster_.rng().below(2 * kMaxPpm + 1)) - static_cast<int64_t>(kMaxPpm));
  };
  if (cluster_.world().oneIn(2)) return;
  for (const auto& master : cluster_.masters()) pace(master->clock());
  for (uint32_t i = 0; i < cluster_.agents(); ++i) pace(cluster_.agent(i).clock());
  for (uint32_t i = 0; i < cluster_.monitors(); ++i) pace(cluster_.monitor(i).clock());
}

void FaultInjector::changeMood() {
  VirtualWorld& world = cluster_.world();
  Rng& rng = cluster_.rng();
  for (uint64_t& weight : weights_) weight = world.oneIn(2) ? 1 + rng.below(8) : 0;
  // One backup is enough to ask everything of a cluster that a backup can. Without room on the disk, or with
  // room for few jobs, little happens.
  for (const Fault rare :
       {Fault::kBackupIsRestored, Fault::kDiskRunsLow, Fault::kDiskIsFull, Fault::kQueuesAreShort}) {
    uint64_t& weight = weights_[static_cast<size_t>(rare)];
    weight = std::min<uint64_t>(weight, 1);
  }
  const bool isOnEtcd = cluster_.master().isOnEtcd();
  for (const Fault each :
       isOnEtcd ? std::vector{Fault::kStoreFails, Fault::kBackupIsRestored, Fault::kDiskIsFull}
                : std::vector{Fault::kMasterIsPaused, Fault::kMasterIsCutFromEtcd, Fault::kMasterStepsDown}) {
    weights_[static_cast<size_t>(each)] = 0;
  }
  world.delays.least = Duration(20 + static_cast<int64_t>(rng.below(500)));
  world.delays.spread = world.oneIn(3) ? upTo(200ms) : upTo(5ms);
  world.delays.slowOneIn = world.oneIn(2) ? 10 + rng.below(500) : 0;
  world.delays.slow = upTo(3s);
  world.repeatedOneIn = world.oneIn(2) ? 5 + rng.below(100) : 0;
  world.repeatedWithin = world.oneIn(2) ? upTo(100ms) : upTo(60s);
  world.lostLaunchOneIn = world.oneIn(2) ? 3 + rng.below(50) : 0;
  world.silence = world.oneIn(2) ? 5s : 0s;
}

void FaultInjector::breakSomething() {
  const uint64_t all = std::accumulate(weights_.begin(), weights_.end(), uint64_t{0});
  if (all == 0) return;
  uint64_t at = cluster_.rng().below(all);
  size_t kind = 0;
  while (at >= weights_[kind]) at -= weights_[kind++];
  ++faults_[kind];
  cluster_.world().note("fault", std::string(kNames[kind]));
  inflict(static_cast<Fault>(kind));
}

void FaultInjector::inflict(Fault fault) {
  VirtualWorld& world = cluster_.world();
  const Duration away = world.oneIn(4) ? upTo(60s) : upTo(1s);
  switch (fault) {
    case Fault::kMasterDies:
      return cluster_.killMaster(away);
    case Fault::kStoreFails:
      return cluster_.failStore(away);
    case Fault::kStoreIsSlow:
      return cluster_.master().storage().beSlow(world.oneIn(2) ? upTo(1s) : 0s);
    case Fault::kBackupIsRestored:
      // An older one is of no use to anybody who wants to see something.
      if (cluster_.master().hasBackup() && world.now().steady - backupAt_ < 5min) {
        return cluster_.restoreBackup(away);
      }
      backupAt_ = world.now().steady;
      return cluster_.master().takeBackup();
    case Fault::kAgentDies:
      return cluster_.killAgent(anAgent(), away);
    case Fault::kAgentDiesMidway:
      return cluster_.killAgentMidway(anAgent(), away);
    case Fault::kAgentIsDoubled:
      return cluster_.doubleAgent(anAgent(), upTo(5s));
    case Fault::kAgentIsCutOff:
      return cluster_.cutAgent(anAgent(), away);
    case Fault::kAgentsLinkBreaks:
      return cluster_.breakAgent(anAgent());
    case Fault::kCopyIsSpoilt:
      return cluster_.master().spoilFeed("agent-" + std::to_string(anAgent()));
    case Fault::kMonitorDies:
      return cluster_.killMonitor(aMonitor(), away);
    case Fault::kMonitorDiesMidway:
      return cluster_.killMonitorMidway(aMonitor(), away);
    case Fault::kMonitorShutsDown:
      return cluster_.shutMonitorDown(aMonitor(), upTo(10s), away);
    case Fault::kMonitorIsCutOff:
      return cluster_.cutMonitor(aMonitor(), world.oneIn(4) ? upTo(3min) : away);
    case Fault::kMonitorsLinkBreaks:
      return cluster_.breakMonitor(aMonitor());
    case Fault::kMachineIsLost:
      return cluster_.loseMachine(aMonitor(), away);
    case Fault::kStartsFail:
      return cluster_.monitor(aMonitor()).failStarts(world.oneIn(2) ? 1 + cluster_.rng().below(10) : 0);
    case Fault::kServerShrinks:
      return shrink(aMonitor());
    case Fault::kClockJumps:
      return jumpClock();
    case Fault::kDiskRunsLow:
      return cluster_.fillDisk(1 + cluster_.rng().below(master_.diskReserve - 1), away);
    case Fault::kDiskIsFull:
      return cluster_.fillDisk(0, world.oneIn(8) ? upTo(20s) : upTo(1s));
    case Fault::kQueuesAreShort:
      return shortenQueues(away);
    case Fault::kDescriptorsRunOut:
      return exhaustDescriptors(away);
    case Fault::kMemoryRunsOut:
      return exhaustMemory(away);
    case Fault::kMasterIsPaused:
      return cluster_.pauseMaster(world.oneIn(2) ? upTo(4s) : away);
    case Fault::kMasterIsCutFromEtcd:
      return cluster_.cutMasterFromEtcd(world.oneIn(2) ? upTo(4s) : away);
    case Fault::kMasterStepsDown:
      return cluster_.stepMasterDown();
  }
}

// It registers again, with fewer units and countable things, or with all that it had at first.
void FaultInjector::shrink(uint32_t monitor) {
  std::vector<ServerFacts> servers = servers_[monitor];
  if (!cluster_.world().oneIn(3)) {
    for (ServerFacts& facts : servers) {
      facts.rus = facts.cores = 1 + static_cast<uint32_t>(cluster_.rng().below(facts.rus));
      for (auto& [kind, count] : facts.extras) count = 1 + static_cast<uint32_t>(cluster_.rng().below(count));
    }
  }
  cluster_.monitor(monitor).changeServers(std::move(servers));
  cluster_.breakMonitor(monitor);
}

void FaultInjector::jumpClock() {
  const Duration by =
      (cluster_.world().oneIn(2) ? upTo(2h) : upTo(2s)) * (cluster_.world().oneIn(2) ? 1 : -1);
  const uint64_t whose = cluster_.rng().below(1 + cluster_.agents() + cluster_.monitors());
  if (whose == 0) {
    cluster_.master().clock().jump(by);
  } else if (whose <= cluster_.agents()) {
    cluster_.agent(static_cast<uint32_t>(whose - 1)).clock().jump(by);
  } else {
    cluster_.monitor(static_cast<uint32_t>(whose - 1 - cluster_.agents())).clock().jump(by);
  }
}

// The master comes back with bounds of a few jobs, or with those that it had at first. Jobs that are there
// may be more than it would take.
void FaultInjector::shortenQueues(Duration away) {
  cluster_.restartMaster(cluster_.world().oneIn(3) ? master_ : withShortQueues(master_, cluster_.rng()),
                         away);
}

void FaultInjector::exhaustDescriptors(Duration duration) {
  const uint64_t whose = cluster_.rng().below(1 + cluster_.agents() + cluster_.monitors());
  if (whose == 0) {
    cluster_.takeDescriptors(duration);
  } else if (whose <= cluster_.agents()) {
    cluster_.agent(static_cast<uint32_t>(whose - 1)).connection().runOutOfDescriptors(duration);
  } else {
    cluster_.monitor(static_cast<uint32_t>(whose - 1 - cluster_.agents()))
        .connection()
        .runOutOfDescriptors(duration);
  }
}

// The kernel kills the process that has most; where a machine has no memory for more, no task starts there.
void FaultInjector::exhaustMemory(Duration within) {
  switch (cluster_.rng().below(4)) {
    case 0:
      return cluster_.exhaustMaster(within);
    case 1:
      return cluster_.exhaustAgent(anAgent(), within);
    case 2:
      return cluster_.exhaustMonitor(aMonitor(), within);
    default:
      return cluster_.monitor(aMonitor()).runOutOfMemory(within);
  }
}

// --- Operators and machines -------------------------------------------------------------------------------

std::vector<std::string> FaultInjector::someServers() {
  std::vector<std::string> names;
  for (const ServerFacts& server : servers_[aMonitor()]) {
    if (names.empty() || cluster_.world().oneIn(2)) names.push_back(server.name);
  }
  return names;
}

void FaultInjector::changeProfile(const std::string& application) {
  Profile profile;
  profile.application = application;
  profile.caused = randomPressure(cluster_.rng());
  const uint64_t what = cluster_.rng().below(4);
  cluster_.request([profile, what](RequestId request) -> master::Event {
    if (what == 0) return master::ProfileDeleted{request, kSteering, profile.application};
    if (what == 1) return master::ProfilePromoted{request, kSteering, profile.application, "alice"};
    return master::ProfileStored{request, kSteering, profile, "a note"};
  });
}

void FaultInjector::steerSomething() {
  switch (cluster_.rng().below(10)) {
    case 0:
      return setSettings();
    case 1:
      return setPlatform();
    case 2: {
      const std::string user = cluster_.world().oneIn(2) ? "alice" : "bob";
      const auto shares = static_cast<uint32_t>(1 + cluster_.rng().below(10));
      return cluster_.request([user, shares](RequestId request) -> master::Event {
        return master::SharesSet{request, user, shares};
      });
    }
    case 3:
      return changeProfile("app" + std::to_string(cluster_.rng().below(3)));
    case 4:
      return measure(aMonitor());
    case 5:
    case 6:
      return cluster_.monitor(aMonitor()).complain();
    default:
      return steerServers();
  }
}

void FaultInjector::steerServers() {
  const auto change = static_cast<master::ServerChange>(cluster_.rng().below(4));
  const auto servers = someServers();
  cluster_.steer(servers, change, cluster_.world().oneIn(2) ? upTo(10s) : 0s);
  if (change == master::ServerChange::kUncordon || change == master::ServerChange::kRemove) return;
  cluster_.world().after(upTo(20s),
                         [this, servers] { cluster_.steer(servers, master::ServerChange::kUncordon, {}); });
}

// Some of those that the master has there, and some that it may have anywhere or nowhere.
std::vector<TaskPressure> FaultInjector::measuredTasks(const std::string& server) {
  std::vector<TaskPressure> tasks;
  const auto measured = [this, &tasks](AllocationId allocation) {
    tasks.push_back({allocation, randomPressure(cluster_.rng()), ResourceSet(cluster_.rng()())});
  };
  if (!cluster_.master().alive()) return tasks;
  const auto view = cluster_.master().logic().server(server);
  if (!view) return tasks;
  for (const ServerView::Task& task : view->tasks) {
    if (cluster_.world().oneIn(2)) measured(task.allocation);
    if (cluster_.world().oneIn(10)) measured(task.allocation + cluster_.rng().below(10));
  }
  return tasks;
}

void FaultInjector::measure(uint32_t monitor) {
  std::vector<ServerPressure> pressures;
  for (const ServerFacts& server : servers_[monitor]) {
    pressures.push_back({server.name, randomPressure(cluster_.rng()), {}, measuredTasks(server.name)});
  }
  cluster_.monitor(monitor).measure(std::move(pressures));
}

void FaultInjector::setSettings() {
  QualitySettings settings;
  settings.target = 0.6 + cluster_.rng().unit() * 0.4;
  settings.margin = static_cast<int>(cluster_.rng().below(20));
  if (cluster_.world().oneIn(2)) settings.cap = static_cast<uint32_t>(1 + cluster_.rng().below(64));
  settings.floor = static_cast<uint32_t>(1 + cluster_.rng().below(16));
  if (settings.cap) settings.floor = std::min(settings.floor, *settings.cap);
  if (cluster_.world().oneIn(3)) settings.model = QualityModel::kEncoded;
  if (cluster_.world().oneIn(3)) settings.contention = ContentionModel::kMean;
  cluster_.request([settings](RequestId request) -> master::Event {
    return master::SettingsSet{request, settings};
  });
}

void FaultInjector::setPlatform() {
  Share share = fullShare();
  for (uint16_t& part : share) part = static_cast<uint16_t>(part / (1 + cluster_.rng().below(3)));
  const std::string platform = cluster_.world().oneIn(2) ? "old" : "new";
  cluster_.request([platform, share](RequestId request) -> master::Event {
    return master::PlatformSet{request, platform, share};
  });
}

void FaultInjector::makeGood() {
  VirtualWorld& world = cluster_.world();
  weights_ = {};
  world.delays = {};
  world.repeatedOneIn = world.lostLaunchOneIn = 0;
  world.silence = {};
  cluster_.heal();
  std::vector<std::string> all;
  for (uint32_t monitor = 0; monitor < servers_.size(); ++monitor) {
    cluster_.monitor(monitor).changeServers(servers_[monitor]);
    cluster_.breakMonitor(monitor);
    for (const ServerFacts& server : servers_[monitor]) all.push_back(server.name);
  }
  // What was to be uncordoned later is by then; the master may be away so long.
  world.after(1min, [this, all] {
    cluster_.steer(all, master::ServerChange::kUncordon, {});
    // A master does so every few seconds, and here only with so many changes: where nothing changes any more,
    // a copy that was spoilt would never be noticed.
    cluster_.master().compareCopies();
  });
}

uint64_t FaultInjector::total() const {
  return std::accumulate(faults_.begin(), faults_.end(), uint64_t{0});
}

}  // namespace tarcil::sim
