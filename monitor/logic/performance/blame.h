// Why a task may be degraded: ranks the evidence against a neighbour, the server's background load, the
// task's own limits, and the hypervisor. Pure.
//
// Two kinds of evidence count, each in [0, 1]. Symptoms: the share of time in which the task waited for a
// core, for memory or for a disk; that it is at the limit of its cores or memory; the share of the server's
// time that the hypervisor took. And pressure: for a resource, that of everything else on the server beyond
// what the task's profile tolerates, in 99ths. Either is attributed to those who cause pressure on that
// resource, in proportion to it: as measured where the machine can measure it, else by their profiles. Tasks
// of one job count together, and the one of them that causes most is named, so that many small ones are one
// antagonist. Evidence below a twentieth does not count. Where none is left the cause is unknown.
//
// The effect of the task's own limits is observed, that of others is only inferred from their pressure. So
// processes killed at its memory limit are conclusive and come first; time for which a quota throttled the
// task is not a wait for others, and weighs no less than the background's pressure on cores.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/model/performance.h"

namespace tarcil {

// Pressures on the resources; nullopt: not measured.
using SomePressure = std::array<std::optional<double>, kResources>;

// What is known of a task on the server, over the time in question.
struct TaskSigns {
  AllocationId allocation = 0;
  JobId job;
  Pressure caused{};        // by its profile
  Pressure tolerated{};     // as above
  SomePressure measured{};  // that it puts on the server
  bool sharesCores = true;  // with the degraded one; else it cannot make that wait for a core
};

// What is known of the degraded task besides.
struct Feelings {
  // Shares of the time in which some of it waited; nullopt: not measured.
  std::optional<double> waitedForCore, waitedForMemory, waitedForDisk;
  std::optional<double> throttled;  // share of the time of its cores
  std::optional<double> coresUsed;
  double coresHeld = 0;               // 0: not pinned to cores
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

// The likeliest first, at most five, with weights that add up to 1; kUnknown alone where there is no
// evidence. Ties: own limits first, then by kind, resource, allocation.
std::vector<Cause> causesOf(const Scene& scene);

}  // namespace tarcil
