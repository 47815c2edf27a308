// Launches that no monitor has answered yet. Each is sent until a monitor accepts or refuses it, or until the
// master revokes the allocation. Launches are idempotent: a monitor that gets one twice starts the task once.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "agent/logic/events.h"
#include "core/base/time.h"
#include "core/model/launch.h"
#include "core/state/cluster_state.h"

namespace tarcil::agent {

class Launches {
 public:
  // `retry`: the first pause after a monitor was unreachable; pauses grow by half, up to kMaxPause.
  explicit Launches(Duration retry) : retry_(retry) {}

  static constexpr Duration kMaxPause = std::chrono::seconds(2);

  // Sends the launch, now or as soon as the server's facts are known. If it has been sent already, it is sent
  // once more after the answer. Fills in the server's name. `unitsMore`: units that the task got beyond those
  // that its job asks for; a memory limit grows in proportion.
  void start(LaunchSpec spec, size_t unitsMore, ServerId server, const ClusterState& state,
             std::vector<Action>& actions);

  // A monitor's answer: the launch is done, or is sent again after a pause.
  void answered(const LaunchAnswered& answer, MonotonicTime now);

  // No more tries: the master has revoked the allocation, or its task is running or has ended.
  void drop(AllocationId allocation);

  // The server's facts have become known or have changed: launches that wait for it are sent at once, to the
  // current address.
  void serverKnown(ServerId server, const ClusterState& state, std::vector<Action>& actions);

  // Sends again what is due.
  void retry(MonotonicTime now, const ClusterState& state, std::vector<Action>& actions);
  std::optional<MonotonicTime> nextRetry() const;

 private:
  struct Launching {
    LaunchSpec spec;
    size_t unitsMore = 0;
    ServerId server = 0;
    Duration pause{};
    enum class Stage : uint8_t { kNoFacts, kSent, kPausing } stage = Stage::kNoFacts;
    MonotonicTime due{};  // pausing
    // Requested again since it was sent: the machine that answers may be lost by now.
    bool isOutdated = false;
  };

  void send(Launching& launching, const ClusterState& state, std::vector<Action>& actions);

  Duration retry_;
  std::map<AllocationId, Launching> launching_;
  std::set<std::pair<MonotonicTime, AllocationId>> pausing_;
};

}  // namespace tarcil::agent
