// EASY backfill (Lifka 1995), as Slurm makes it: first come, first served, and later jobs where they do not
// delay the first that waits.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/policies/central.h"
#include "sim/policies/scheduler.h"
#include "sim/world.h"

namespace tarcil::sim {

// A job starts all its tasks at once (of more than the cluster has room for, as many as it has, then the
// rest), on the servers with the largest part of their units free. Where the first has no room, its servers
// are reserved for the time at which it will have: by the durations that users are taken to have asked for,
// which are the true ones at full speed. What runs longer, since neighbours slow it down, is expected to end
// at any moment. A later job starts where it ends before that time, or leaves free what is reserved. At most
// kMaxDepth of those that wait are tried (Slurm: bf_max_job_test).
class Backfill final : public Scheduler {
 public:
  static constexpr size_t kMaxDepth = 100;

  Backfill(World& world, const CentralOptions& options);

  void jobArrived(JobNumber job) override;
  void taskEnded(TaskNumber task, ServerNumber server) override;
  void received(const Message& message) override;

 private:
  enum Kind : uint8_t { kReleased, kStart };

  struct Waiting {
    JobNumber job;
    TaskNumber next;  // its first task that has not started
  };
  struct Running {
    SimTime ends;  // as asked for
    TaskNumber task;
    ServerNumber server;
  };
  // What the first that waits is to have.
  struct Reservation {
    SimTime from{};
    std::vector<uint32_t> spare;  // by server, units that it leaves then
  };

  // How many of its tasks start together, and the longest of them.
  uint32_t tasksOf(const Waiting& waiting) const;
  SimTime endOf(const Waiting& waiting, uint32_t tasks) const;
  // Servers for so many tasks, by units free; none where there is no room for all.
  std::vector<ServerNumber> room(std::vector<uint32_t> free, uint32_t rus, uint32_t tasks) const;
  Reservation reservationFor(const Waiting& first) const;
  void start(Waiting& waiting, const std::vector<ServerNumber>& servers);
  void startWhatFits();

  World& world_;
  const CentralOptions options_;
  std::vector<uint32_t> free_;  // by server, as known
  std::vector<Running> running_;
  std::deque<Waiting> waiting_;
  SimTime busyUntil_{};
};

}  // namespace tarcil::sim
