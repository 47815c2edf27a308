// Launches that no monitor has answered for yet. Each is sent until a monitor accepts or refuses it, or until
// the master takes the allocation back: a monitor that gets one twice starts the task once.
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
  // `retry`: the first pause after an unreachable monitor; pauses grow by half up to kMaxPause.
  explicit Launches(Duration retry) : retry_(retry) {}

  static constexpr Duration kMaxPause = std::chrono::seconds(2);

  // Sends the launch, now or as soon as the server's facts are known. Where it is under way already, it is
  // sent once more when that has been answered. The server's name is filled in here. So is the memory of
  // `unitsMore`, units that the task got beyond those that its job asks for: where the job limits memory, the
  // limit goes with them.
  void start(LaunchSpec spec, size_t unitsMore, ServerId server, const ClusterState& state,
             std::vector<Action>& actions);

  // Takes a monitor's answer: the launch is settled, or to be sent again after a pause.
  void answered(const LaunchAnswered& answer, MonotonicTime now);

  // The master has taken the allocation back, or its task runs or has ended.
  void drop(AllocationId allocation);

  // The server's facts are known or have changed: launches that wait for it are sent at once, to the newest
  // address.
  void serverKnown(ServerId server, const ClusterState& state, std::vector<Action>& actions);

  // Sends what is due by now.
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
    // Sent, and asked for again since: who answers may be a machine that is lost by now.
    bool isOutdated = false;
  };

  void send(Launching& launching, const ClusterState& state, std::vector<Action>& actions);

  Duration retry_;
  std::map<AllocationId, Launching> launching_;
  std::set<std::pair<MonotonicTime, AllocationId>> pausing_;
};

}  // namespace tarcil::agent
