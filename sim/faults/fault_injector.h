// Breaks things in a virtual cluster, and steers it as operators do.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/faults/virtual_cluster.h"

namespace tarcil::sim {

enum class Fault : uint8_t {
  kMasterDies,
  kStoreFails,
  kStoreIsSlow,
  kBackupIsRestored,
  kAgentDies,
  kAgentDiesMidway,
  kAgentIsDoubled,
  kAgentIsCutOff,
  kAgentsLinkBreaks,
  kCopyIsSpoilt,
  kMonitorDies,
  kMonitorDiesMidway,
  kMonitorShutsDown,
  kMonitorIsCutOff,
  kMonitorsLinkBreaks,
  kMachineIsLost,
  kStartsFail,
  kServerShrinks,
  kClockJumps,
  kDiskRunsLow,
  kDiskIsFull,
  kQueuesAreShort,
  kDescriptorsRunOut,
  kMemoryRunsOut,
  // Of several masters that have an etcd.
  kMasterIsPaused,
  kMasterIsCutFromEtcd,
  kMasterStepsDown,
};
inline constexpr size_t kFaults = static_cast<size_t>(Fault::kMasterStepsDown) + 1;
std::string_view name(Fault fault);

class FaultInjector {
 public:
  // Clocks run at their own pace from here on. `cluster` outlives it; `servers` and `master` as it was made
  // with.
  FaultInjector(VirtualCluster& cluster, std::vector<std::vector<ServerFacts>> servers,
                const MasterOptions& master);

  // Another phase: how the network is, which faults come up and how often each, by chance.
  void changeMood();
  // One fault. It happens at once, or as soon as there is occasion.
  void breakSomething();
  // Something that operators or machines do: cordon, drain, settings, shares, profiles, background pressure.
  void steerSomething();
  // Nothing is broken any more, nor will be, and no server is cordoned. Queues stay as short as they are.
  void makeGood();

  // By kind; messages that were lost or repeated on the way are not counted.
  const std::array<uint64_t, kFaults>& faults() const { return faults_; }
  uint64_t total() const;

 private:
  void inflict(Fault fault);
  Duration upTo(Duration most) { return cluster_.world().upTo(most); }
  uint32_t anAgent() { return static_cast<uint32_t>(cluster_.rng().below(cluster_.agents())); }
  uint32_t aMonitor() { return static_cast<uint32_t>(cluster_.rng().below(cluster_.monitors())); }
  std::vector<std::string> someServers();
  void shrink(uint32_t monitor);
  void jumpClock();
  void shortenQueues(Duration away);
  void exhaustDescriptors(Duration duration);
  void exhaustMemory(Duration within);
  std::vector<TaskPressure> measuredTasks(const std::string& server);
  void measure(uint32_t monitor);
  void setSettings();
  void changeProfile(const std::string& application);
  void setPlatform();
  void steerServers();

  VirtualCluster& cluster_;
  const std::vector<std::vector<ServerFacts>> servers_;
  const MasterOptions master_;
  std::array<uint64_t, kFaults> weights_{}, faults_{};
  MonotonicTime backupAt_{};
};

}  // namespace tarcil::sim
