// Why a task may fall short: ranks what speaks for a neighbour, for the server's other load, for the task's
// own limits, and for the hypervisor. Pure.
//
// Two kinds of evidence count, each in [0, 1]. What the task feels: the share of time in which it waited for
// a core, for memory or for a disk; that it is at the limit of its cores or memory; the share of the server's
// time that the hypervisor took. And what presses: for a resource, the pressure of everything else on the
// server beyond what the task's profile bears, in 99ths. Either is laid on those who press on that resource,
// in proportion to their pressure: measured where the machine measures it, else as their profiles say. Tasks
// of one job count together, and the one of them that presses most is named: many small ones are one
// offender. What is below a twentieth does not count. Where nothing is left the cause is unknown.
//
// What the task's own limits did to it is seen, what others did is inferred from what presses. So processes
// killed at its memory limit are all the evidence there can be, and come first; time for which a quota held
// it back is no waiting for others, and speaks no less than the background's pressure on cores.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/model/performance.h"

namespace tarcil {

// Pressures on the resources; nullopt: not measured.
using SomePressure = std::array<std::optional<double>, kResources>;

// A task of the server over the time in question.
struct TaskSigns {
  AllocationId allocation = 0;
  JobId job;
  Pressure caused{};        // by its profile
  Pressure tolerated{};     // as above
  SomePressure measured{};  // that it puts on the server
  bool sharesCores = true;  // with the suffering one; else it cannot make that wait for a core
};

// What is known of the suffering one besides.
struct Feelings {
  // Shares of the time in which some of it waited; nullopt: not measured.
  std::optional<double> waitedForCore, waitedForMemory, waitedForDisk;
  std::optional<double> throttled;  // share of the time of its cores
  std::optional<double> coresUsed;
  double coresHeld = 0;               // 0: not kept to cores
  std::optional<double> memoryShare;  // used, of its limit
  uint64_t limitHits = 0;             // how often the limit was reached
  uint64_t oomKills = 0;              // in the last minute
};

struct ServerSigns {
  SomePressure background{};     // that no task explains
  std::optional<double> stolen;  // share of the server's time that the hypervisor took
};

struct Scene {
  TaskSigns suffering;
  Feelings feels;
  std::vector<TaskSigns> others;  // every other task on the server
  ServerSigns server;
};

// The likeliest first, at most five, their weights adding up to 1; kUnknown alone where nothing speaks for
// anything. Ties: own limits first, then by kind, resource, allocation.
std::vector<Cause> causesOf(const Scene& scene);

}  // namespace tarcil
