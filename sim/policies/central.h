// Policies of one scheduler that sees everything at no cost: what others are measured against.
#pragma once

#include <deque>
#include <set>
#include <vector>

#include "core/base/rng.h"
#include "core/state/free_index.h"
#include "sim/policies/scheduler.h"
#include "sim/world.h"

namespace tarcil::sim {

enum class Central : uint8_t {
  kAny,          // any free unit: the omniscient scheduler of Sparrow's simulators
  kLeastLoaded,  // the server with the largest part of its units free
};

struct CentralOptions {
  Central choice = Central::kAny;
  Duration oneWay{};   // to the servers and back
  Duration perTask{};  // that the scheduler takes for each task it sends, one after the other
};

// One queue, first come, first served, over all units: where the first task fits nowhere, all wait.
class CentralPolicy final : public Scheduler {
 public:
  CentralPolicy(World& world, const CentralOptions& options, Rng rng);

  void jobArrived(JobNumber job) override;
  void taskEnded(TaskNumber task, ServerNumber server) override;
  void received(const Message& message) override;

 private:
  enum Kind : uint8_t { kFree, kStart };
  static constexpr ServerNumber kNone = UINT32_MAX;

  // From now on so many units are known to be free there.
  void setFree(ServerNumber server, uint32_t units);
  void startWhatFits();
  ServerNumber choose(const SimJob& job);
  ServerNumber leastLoaded(uint32_t rus) const;

  World& world_;
  const CentralOptions options_;
  Rng rng_;
  std::vector<uint32_t> free_;  // by server, as known
  FreeIndex index_;
  std::set<std::pair<double, ServerNumber>> byLoad_;  // part of the units that is held
  std::deque<TaskNumber> waiting_;
  SimTime busyUntil_{};
};

}  // namespace tarcil::sim
