#include "monitor/logic/pressure/formulas.h"

#include <algorithm>

#include "monitor/logic/pressure/formula_parts.h"

namespace tarcil {
namespace {

using namespace formula;

double seconds(const PressureReading& before, const PressureReading& after) {
  return std::chrono::duration<double>(after.when - before.when).count();
}

// Misses that are not the tasks', times their cost, of all cycles that the cores could have made. Idle cores
// count no cycles, so the share of busy time comes in.
Result<double> refillPressure(const PressureReading& before, const PressureReading& after,
                              std::optional<double> HardwareCounts::*misses, double cost) {
  const MachineCounters &m0 = before.machine, &m1 = after.machine;
  if (auto error =
          firstError(m0.hardware, m1.hardware, before.tasks.hardware, after.tasks.hardware, m0.cpu, m1.cpu)) {
    return *error;
  }
  const auto cycles = counted(*m0.hardware, *m1.hardware, &HardwareCounts::cycles);
  const auto everyones = counted(*m0.hardware, *m1.hardware, misses);
  const auto tasks = counted(*before.tasks.hardware, *after.tasks.hardware, misses);
  if (auto error = firstError(cycles, everyones, tasks)) return *error;
  const double busy = grown(m0.cpu->busy, m1.cpu->busy);
  const double all = busy + grown(m0.cpu->idle, m1.cpu->idle) + grown(m0.cpu->steal, m1.cpu->steal);
  if (all <= 0) return noTime();
  if (*cycles <= 0) return 0.0;
  return asPressure((*everyones - *tasks) * cost / *cycles * busy / all);
}

// Of what the kernel wrote to disks on nobody's account, the part that is the tasks'.
double tasksPartOfDirty(const PressureReading& reading) {
  if (!reading.machine.memory.ok() || !reading.tasks.memory.ok()) return 0;
  const double all = static_cast<double>(reading.machine.memory->dirty);
  return all <= 0 ? 0 : std::min(1.0, static_cast<double>(reading.tasks.memory->dirty) / all);
}

}  // namespace

Reading<MemoryUse> memoryOfPart(uint64_t bytes, const Reading<CgroupMemory>& tasks) {
  if (!tasks.ok()) return tasks.error();
  const uint64_t held = tasks->used - std::min(tasks->used, tasks->reclaimable);
  return MemoryUse{bytes, bytes - std::min(bytes, held), tasks->dirty};
}

Result<double> corePressure(const PressureReading& before, const PressureReading& after) {
  const auto &c0 = before.machine.cpu, &c1 = after.machine.cpu;
  const auto &t0 = before.tasks.cpuMicros, &t1 = after.tasks.cpuMicros;
  if (auto error = firstError(c0, c1, t0, t1)) return *error;
  const double used = grown(c0->busy, c1->busy) + grown(c0->steal, c1->steal);
  const double all = used + grown(c0->idle, c1->idle);
  if (all <= 0) return noTime();
  return asPressure((used - grown(*t0, *t1) / kMicrosPerTick) / all);
}

Result<double> l1iPressure(const PressureReading& before, const PressureReading& after) {
  return refillPressure(before, after, &HardwareCounts::l1iMisses, kL1MissCycles);
}

Result<double> l1dPressure(const PressureReading& before, const PressureReading& after) {
  return refillPressure(before, after, &HardwareCounts::l1dMisses, kL1MissCycles);
}

Result<double> l2Pressure(const PressureReading& before, const PressureReading& after) {
  return refillPressure(before, after, &HardwareCounts::l2Misses, kL2MissCycles);
}

Result<double> tlbPressure(const PressureReading& before, const PressureReading& after) {
  return refillPressure(before, after, &HardwareCounts::tlbMisses, kTlbMissCycles);
}

Result<double> llcPressure(const PressureReading& after, const Capacities& capacities) {
  if (auto error = firstError(after.machine.cache, after.tasks.cache)) return *error;
  if (capacities.llcBytes == 0) return notFound("the size of the last-level cache is not known");
  const double foreign = grown(after.tasks.cache->occupied, after.machine.cache->occupied);
  return asPressure(foreign / static_cast<double>(capacities.llcBytes));
}

Result<double> memoryBandwidthPressure(const PressureReading& before, const PressureReading& after,
                                       const Capacities& capacities) {
  const MachineCounters &m0 = before.machine, &m1 = after.machine;
  const CgroupCounters &t0 = before.tasks, &t1 = after.tasks;
  double foreign = 0;
  if (!firstError(m0.cache, m1.cache, t0.cache, t1.cache)) {
    foreign = grown(m0.cache->transferred, m1.cache->transferred) -
              grown(t0.cache->transferred, t1.cache->transferred);
  } else if (auto error = firstError(m0.hardware, m1.hardware, t0.hardware, t1.hardware)) {
    return *error;
  } else {
    const auto everyones = counted(*m0.hardware, *m1.hardware, &HardwareCounts::llcMisses);
    const auto tasks = counted(*t0.hardware, *t1.hardware, &HardwareCounts::llcMisses);
    if (auto uncounted = firstError(everyones, tasks)) return *uncounted;
    foreign = kLineBytes * (*everyones - *tasks);
  }
  if (capacities.memoryBytesPerSecond <= 0) {
    return notFound("what the memory can do is not known: give --memory-bandwidth");
  }
  const double time = seconds(before, after);
  if (time <= 0) return noTime();
  return asPressure(foreign / time / capacities.memoryBytesPerSecond);
}

Result<double> memoryCapacityPressure(const PressureReading& after) {
  if (auto error = firstError(after.machine.memory, after.tasks.memory)) return *error;
  const MemoryUse& memory = *after.machine.memory;
  const CgroupMemory& tasks = *after.tasks.memory;
  const double used = grown(memory.available, memory.total);
  return asPressure((used - grown(tasks.reclaimable, tasks.used)) / static_cast<double>(memory.total));
}

Result<double> diskPressure(const PressureReading& before, const PressureReading& after) {
  const auto &d0 = before.machine.disks, &d1 = after.machine.disks;
  const auto &t0 = before.tasks.disks, &t1 = after.tasks.disks;
  if (auto error = firstError(d0, d1, t0, t1)) return *error;
  const double time = seconds(before, after);
  if (time <= 0) return noTime();
  const double foreignDirty = 1 - tasksPartOfDirty(before);
  double most = 0;
  for (const auto& [device, now] : *d1) {
    const auto then = d0->find(device);
    if (then == d0->end()) continue;  // it has just been plugged in
    const TransferBytes tasks0 = bytesOn(*t0, device), tasks1 = bytesOn(*t1, device);
    const double read = grown(then->second.bytes.in, now.bytes.in);
    const double written = grown(then->second.bytes.out, now.bytes.out);
    const double foreignRead = std::max(0.0, read - grown(tasks0.in, tasks1.in));
    const double foreignWritten = std::max(0.0, written - grown(tasks0.out, tasks1.out)) * foreignDirty;
    const double share = read + written <= 0 ? 1 : (foreignRead + foreignWritten) / (read + written);
    most = std::max(most, grown(then->second.busyMs, now.busyMs) / 1000 / time * share);
  }
  return asPressure(most);
}

Result<double> networkPressure(const PressureReading& before, const PressureReading& after,
                               const Capacities& capacities) {
  const auto &n0 = before.machine.network, &n1 = after.machine.network;
  const auto &t0 = before.tasks.network, &t1 = after.tasks.network;
  if (auto error = firstError(n0, n1, t0, t1)) return *error;
  if (capacities.networkBytesPerSecond <= 0) {
    return notFound("no interface tells its speed: give --network-bandwidth");
  }
  const double time = seconds(before, after);
  if (time <= 0) return noTime();
  const double in = grown(n0->in, n1->in) - grown(t0->in, t1->in);
  const double out = grown(n0->out, n1->out) - grown(t0->out, t1->out);
  return asPressure(std::max(in, out) / time / capacities.networkBytesPerSecond);
}

MeasuredPressure backgroundBetween(const PressureReading& before, const PressureReading& after,
                                   const Capacities& capacities) {
  return {corePressure(before, after),    l1iPressure(before, after),
          l1dPressure(before, after),     l2Pressure(before, after),
          llcPressure(after, capacities), memoryBandwidthPressure(before, after, capacities),
          memoryCapacityPressure(after),  tlbPressure(before, after),
          diskPressure(before, after),    networkPressure(before, after, capacities)};
}

Result<double> stallShare(const Reading<StallTimes>& before, const Reading<StallTimes>& after,
                          Duration between) {
  if (auto error = firstError(before, after)) return *error;
  if (between <= Duration::zero()) return noTime();
  return std::min(1.0, grown(before->some, after->some) / static_cast<double>(between.count()));
}

Result<double> countsPerSecond(const Reading<PagingCounts>& before, const Reading<PagingCounts>& after,
                               uint64_t PagingCounts::*counter, Duration between) {
  if (auto error = firstError(before, after)) return *error;
  if (between <= Duration::zero()) return noTime();
  return grown((*before).*counter, (*after).*counter) / std::chrono::duration<double>(between).count();
}

}  // namespace tarcil
