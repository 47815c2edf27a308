#include "monitor/logic/pressure/task_pressure.h"

#include <algorithm>

#include "monitor/logic/pressure/formula_parts.h"

namespace tarcil {
namespace {

using namespace formula;

// Two readings of a server and of one task on it.
struct Interval {
  const MachineCounters &m0, &m1;
  const CgroupCounters &t0, &t1;
  double seconds;

  // Ticks of all cores.
  double allTime() const {
    return grown(m0.cpu->busy, m1.cpu->busy) + grown(m0.cpu->idle, m1.cpu->idle) +
           grown(m0.cpu->steal, m1.cpu->steal);
  }
};

Result<double> coreOf(const Interval& in) {
  if (auto error = firstError(in.m0.cpu, in.m1.cpu, in.t0.cpuMicros, in.t1.cpuMicros)) return *error;
  const double all = in.allTime();
  if (all <= 0) return noTime();
  return asPressure(grown(*in.t0.cpuMicros, *in.t1.cpuMicros) / kMicrosPerTick / all);
}

Result<double> refillsOf(const Interval& in, std::optional<double> HardwareCounts::*misses, double cost) {
  if (auto error =
          firstError(in.m0.hardware, in.m1.hardware, in.t0.hardware, in.t1.hardware, in.m0.cpu, in.m1.cpu)) {
    return *error;
  }
  const auto cycles = counted(*in.m0.hardware, *in.m1.hardware, &HardwareCounts::cycles);
  const auto own = counted(*in.t0.hardware, *in.t1.hardware, misses);
  if (auto error = firstError(cycles, own)) return *error;
  const double all = in.allTime();
  if (all <= 0) return noTime();
  if (*cycles <= 0) return 0.0;
  return asPressure(*own * cost / *cycles * grown(in.m0.cpu->busy, in.m1.cpu->busy) / all);
}

Result<double> cacheOf(const Interval& in, const Capacities& capacities) {
  if (!in.t1.cache) return in.t1.cache.error();
  if (capacities.llcBytes == 0) return notFound("the size of the last-level cache is not known");
  return asPressure(static_cast<double>(in.t1.cache->occupied) / static_cast<double>(capacities.llcBytes));
}

Result<double> memoryBandwidthOf(const Interval& in, const Capacities& capacities) {
  double bytes = 0;
  if (!firstError(in.t0.cache, in.t1.cache)) {
    bytes = grown(in.t0.cache->transferred, in.t1.cache->transferred);
  } else if (auto error = firstError(in.t0.hardware, in.t1.hardware)) {
    return *error;
  } else {
    const auto misses = counted(*in.t0.hardware, *in.t1.hardware, &HardwareCounts::llcMisses);
    if (!misses) return misses.error();
    bytes = kLineBytes * *misses;
  }
  if (capacities.memoryBytesPerSecond <= 0) {
    return notFound("what the memory can do is not known: give --memory-bandwidth");
  }
  if (in.seconds <= 0) return noTime();
  return asPressure(bytes / in.seconds / capacities.memoryBytesPerSecond);
}

Result<double> memoryCapacityOf(const Interval& in) {
  if (auto error = firstError(in.m1.memory, in.t1.memory)) return *error;
  if (in.m1.memory->total == 0) return notFound("the machine's memory is not known");
  return asPressure(grown(in.t1.memory->reclaimable, in.t1.memory->used) /
                    static_cast<double>(in.m1.memory->total));
}

Result<double> diskOf(const Interval& in) {
  if (auto error = firstError(in.m0.disks, in.m1.disks, in.t0.disks, in.t1.disks)) return *error;
  if (in.seconds <= 0) return noTime();
  double most = 0;
  for (const auto& [device, now] : *in.m1.disks) {
    const auto then = in.m0.disks->find(device);
    if (then == in.m0.disks->end()) continue;
    const TransferBytes own0 = bytesOn(*in.t0.disks, device), own1 = bytesOn(*in.t1.disks, device);
    const double all =
        grown(then->second.bytes.in, now.bytes.in) + grown(then->second.bytes.out, now.bytes.out);
    const double own = grown(own0.in, own1.in) + grown(own0.out, own1.out);
    const double share = all <= 0 ? 0 : std::min(1.0, own / all);
    most = std::max(most, grown(then->second.busyMs, now.busyMs) / 1000 / in.seconds * share);
  }
  return asPressure(most);
}

Result<double> networkOf(const Interval& in, const Capacities& capacities) {
  if (auto error = firstError(in.t0.network, in.t1.network)) return *error;
  if (capacities.networkBytesPerSecond <= 0) {
    return notFound("no interface tells its speed: give --network-bandwidth");
  }
  if (in.seconds <= 0) return noTime();
  const double most =
      std::max(grown(in.t0.network->in, in.t1.network->in), grown(in.t0.network->out, in.t1.network->out));
  return asPressure(most / in.seconds / capacities.networkBytesPerSecond);
}

}  // namespace

MeasuredPressure taskPressure(const MachineCounters& machineBefore, const MachineCounters& machineAfter,
                              const TaskReading& before, const TaskReading& after,
                              const Capacities& capacities) {
  const Interval in{machineBefore, machineAfter, before.counters.used, after.counters.used,
                    std::chrono::duration<double>(after.when - before.when).count()};
  return {coreOf(in),
          refillsOf(in, &HardwareCounts::l1iMisses, kL1MissCycles),
          refillsOf(in, &HardwareCounts::l1dMisses, kL1MissCycles),
          refillsOf(in, &HardwareCounts::l2Misses, kL2MissCycles),
          cacheOf(in, capacities),
          memoryBandwidthOf(in, capacities),
          memoryCapacityOf(in),
          refillsOf(in, &HardwareCounts::tlbMisses, kTlbMissCycles),
          diskOf(in),
          networkOf(in, capacities)};
}

Result<double> coresUsed(const TaskReading& before, const TaskReading& after) {
  const auto &c0 = before.counters.used.cpuMicros, &c1 = after.counters.used.cpuMicros;
  if (auto error = firstError(c0, c1)) return *error;
  const Duration time = after.when - before.when;
  if (time <= Duration::zero()) return noTime();
  return grown(*c0, *c1) / static_cast<double>(time.count());
}

}  // namespace tarcil
