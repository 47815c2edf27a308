#include "monitor/performance/task_meter.h"

#include <algorithm>
#include <set>

#include "monitor/logic/pressure/formula_parts.h"
#include "monitor/logic/pressure/task_pressure.h"

namespace tarcil {
namespace {

// What is said of neighbours is of the last one to two of these.
constexpr Duration kLookBack = std::chrono::seconds(5);
// A limit may let a task run on for a while between two kills: they are counted over a longer time.
constexpr Duration kCountKills = std::chrono::seconds(60);
// Opening the files of all tasks costs more than reading them, so they stay open for a while.
constexpr Duration kKeepReaders = std::chrono::seconds(60);

SomePressure known(const MeasuredPressure& measured) {
  SomePressure pressure;
  for (size_t i = 0; i < kResources; ++i) {
    if (measured[i].ok()) pressure[i] = *measured[i];
  }
  return pressure;
}

std::optional<double> known(const Result<double>& value) {
  if (!value.ok()) return std::nullopt;
  return *value;
}

bool shareACore(const RunningTask& a, const RunningTask& b) {
  if (a.cores.empty() || b.cores.empty()) return true;
  return std::find_first_of(a.cores.begin(), a.cores.end(), b.cores.begin(), b.cores.end()) != a.cores.end();
}

Feelings feelingsOf(const RunningTask& task, const TaskReading& before, const TaskReading& after) {
  const Duration between = after.when - before.when;
  const TaskCounters &c0 = before.counters, &c1 = after.counters;
  Feelings feels;
  feels.waitedForCore = known(stallShare(c0.cpuStall, c1.cpuStall, between));
  feels.waitedForMemory = known(stallShare(c0.memoryStall, c1.memoryStall, between));
  feels.waitedForDisk = known(stallShare(c0.ioStall, c1.ioStall, between));
  feels.coresUsed = known(coresUsed(before, after));
  feels.coresHeld = static_cast<double>(task.cores.size());
  if (c0.used.throttledMicros.ok() && c1.used.throttledMicros.ok() && between > Duration::zero()) {
    const double cores = std::max(1.0, feels.coresHeld);
    feels.throttled = std::min(1.0, formula::grown(*c0.used.throttledMicros, *c1.used.throttledMicros) /
                                        (cores * static_cast<double>(between.count())));
  }
  if (c0.memoryLimit.ok() && c1.memoryLimit.ok() && c1.used.memory.ok() && c1.memoryLimit->bytes > 0) {
    feels.memoryShare =
        static_cast<double>(c1.used.memory->used) / static_cast<double>(c1.memoryLimit->bytes);
    feels.limitHits = c1.memoryLimit->hits - std::min(c0.memoryLimit->hits, c1.memoryLimit->hits);
  }
  return feels;
}

std::optional<double> stolenShare(const MachineCounters& before, const MachineCounters& after) {
  if (!before.cpu.ok() || !after.cpu.ok()) return std::nullopt;
  const double stolen = formula::grown(before.cpu->steal, after.cpu->steal);
  const double all = stolen + formula::grown(before.cpu->busy, after.cpu->busy) +
                     formula::grown(before.cpu->idle, after.cpu->idle);
  if (all <= 0) return std::nullopt;
  return stolen / all;
}

// Bytes in the direction in which more have passed.
double busierWay(const TransferBytes& then, const TransferBytes& now) {
  return std::max(formula::grown(then.in, now.in), formula::grown(then.out, now.out));
}

}  // namespace

TaskMeter::TaskMeter(Duration period, const PressureOptions& options, const MachinePaths& paths,
                     const std::vector<uint32_t>& cores, const CgroupDirectories& tasks, CacheMonitor& cache)
    : period_(period),
      options_(options),
      paths_(paths),
      cores_(cores),
      tasksTogether_(tasks),
      cache_(cache),
      readers_(cores) {}

std::vector<Violation> TaskMeter::measure(const std::vector<RunningTask>& running, Now now) {
  endGone(running);
  for (const RunningTask& task : running) cache_.follow(task.allocation, task.cgroups.threadsFile());
  for (const RunningTask& task : running) {
    if (!task.goal) continue;
    const auto known = watched_.find(task.allocation);
    if (known == watched_.end()) begin(task);
    if (known != watched_.end() && known->second.cores != task.cores) countOnOtherCores(task, known->second);
    Watched& watched = watched_.at(task.allocation);
    if (const auto value = sample(task, watched, now.steady)) watch_.take(task.allocation, *value, now);
  }
  if (watch_.suspicious()) {
    lookAround(running, now.steady);
  } else if (latest_ && now.steady - latest_->server.when >= kKeepReaders) {
    serverReader_.reset();
    readers_.closeAll();
    earlier_.reset(), later_.reset(), latest_.reset();
  }
  return watch_.changes([this, &running](AllocationId task) { return sceneOf(task, running); }, now);
}

std::vector<PerformanceSample> TaskMeter::moved(Now now) {
  return watch_.moved(now);
}

void TaskMeter::begin(const RunningTask& task) {
  Watched watched{*task.goal, task.cores, TaskClock(task.cgroups)};
  watched.goal.window = std::max(watched.goal.window, 3 * period_);
  if (watched.goal.metric == Metric::kInstructions) {
    auto counters = HardwareCounters::open(linuxPerf(task.cgroups.unified), coresForCounters(task, cores_));
    if (counters && counters->read().instructions) {
      watched.instructions = std::move(*counters);
    } else {
      // Its target is in instructions, and so are earlier runs: the task is held against what it did before.
      watched.goal.metric = Metric::kCpuTime;
      watched.goal.target = 0;
      watched.isAsAsked = false;
      problems_.push_back("task " + std::to_string(task.allocation) + " is watched by its CPU time: " +
                          (counters ? "instructions are not counted here" : counters.error().message));
    }
  }
  if (watched.goal.metric == Metric::kReported && task.inbox == nullptr) {
    problems_.push_back("task " + std::to_string(task.allocation) +
                        " cannot report its performance: it has no socket for that");
  }
  watch_.begin(task.allocation, watched.goal, watched.isAsAsked ? task.earlier : 0);
  watched_.emplace(task.allocation, std::move(watched));
}

// The task was resized.
void TaskMeter::countOnOtherCores(const RunningTask& task, Watched& watched) {
  watched.cores = task.cores;
  if (!watched.instructions) return;
  watched.before.reset();
  auto counters = HardwareCounters::open(linuxPerf(task.cgroups.unified), coresForCounters(task, cores_));
  if (counters) watched.instructions = std::move(*counters);
}

void TaskMeter::endGone(const std::vector<RunningTask>& running) {
  std::set<AllocationId> here;
  for (const RunningTask& task : running) here.insert(task.allocation);
  const auto gone = [&here](const auto& entry) { return !here.contains(entry.first); };
  for (const auto& entry : watched_) {
    if (gone(entry)) watch_.end(entry.first);
  }
  cache_.forgetAllBut(here);
  std::erase_if(watched_, gone);
  readers_.closeAllBut(running);
}

std::optional<double> TaskMeter::sample(const RunningTask& task, Watched& watched, MonotonicTime now) {
  if (watched.goal.metric == Metric::kReported) {
    if (task.inbox == nullptr) return std::nullopt;
    const auto value = task.inbox->take();
    dropped_ += task.inbox->dropped() - watched.dropped;
    watched.dropped = task.inbox->dropped();
    if (auto problem = task.inbox->problem()) {
      problems_.push_back("task " + std::to_string(task.allocation) + ": " + *problem);
    }
    return value;
  }
  const auto counter = counterOf(watched);
  const auto before = std::exchange(watched.before, counter);
  const auto seconds = std::chrono::duration<double>(now - std::exchange(watched.when, now)).count();
  if (!counter || !before || seconds <= 0) return std::nullopt;
  return formula::grown(*before, *counter) / seconds;
}

// Of instructions, or of seconds of CPU time.
std::optional<double> TaskMeter::counterOf(Watched& watched) {
  if (watched.instructions) return watched.instructions->read().instructions;
  const auto micros = watched.clock.cpuMicros();
  if (!micros) return std::nullopt;
  return static_cast<double>(*micros) / 1e6;
}

void TaskMeter::lookAround(const std::vector<RunningTask>& running, MonotonicTime now) {
  if (!serverReader_) {
    serverReader_ = std::make_unique<ServerReader>(
        options_, paths_, std::set<uint32_t>(cores_.begin(), cores_.end()), tasksTogether_, &cache_);
  }
  Look look{serverReader_->read(now), {}};
  for (const RunningTask& task : running) {
    TaskReader* const reader = readers_.of(task, serverReader_->interfaces());
    if (reader == nullptr) continue;
    TaskReading reading = reader->read(task.goal ? TaskReader::What::kAll : TaskReader::What::kUse, now);
    reading.counters.used.cache = cache_.task(task.allocation);
    noteKills(task.allocation, reading);
    look.tasks.emplace(task.allocation, std::move(reading));
  }
  // After a pause the last look is too old to compare with.
  if (latest_ && now - latest_->server.when >= kLookBack) earlier_.reset();
  if (!earlier_) earlier_ = later_ = look;
  if (now - later_->server.when >= kLookBack) earlier_ = std::exchange(later_, look);
  latest_ = std::move(look);
}

std::map<AllocationId, double> TaskMeter::usual() const {
  auto usual = watch_.usual();
  std::erase_if(usual, [this](const auto& task) { return !watched_.at(task.first).isAsAsked; });
  return usual;
}

std::map<AllocationId, UseRates> TaskMeter::useRates() const {
  std::map<AllocationId, UseRates> rates;
  if (!latest_ || latest_->server.when <= earlier_->server.when) return rates;
  for (const auto& [allocation, after] : latest_->tasks) {
    const auto before = earlier_->tasks.find(allocation);
    if (before == earlier_->tasks.end()) continue;
    const double seconds = std::chrono::duration<double>(after.when - before->second.when).count();
    if (seconds <= 0) continue;
    const CgroupCounters &then = before->second.counters.used, &now = after.counters.used;
    UseRates& of = rates[allocation];
    if (then.disks.ok() && now.disks.ok()) {
      for (const auto& [device, bytes] : *now.disks) {
        of.disk = std::max(of.disk, busierWay(formula::bytesOn(*then.disks, device), bytes) / seconds);
      }
    }
    if (then.network.ok() && now.network.ok()) of.network = busierWay(*then.network, *now.network) / seconds;
  }
  return rates;
}

void TaskMeter::noteKills(AllocationId task, const TaskReading& reading) {
  const auto watched = watched_.find(task);
  if (watched == watched_.end() || !reading.counters.memoryLimit.ok()) return;
  auto& kills = watched->second.kills;
  while (!kills.empty() && reading.when - kills.front().first > kCountKills) kills.pop_front();
  kills.emplace_back(reading.when, reading.counters.memoryLimit->oomKills);
}

std::optional<Scene> TaskMeter::sceneOf(AllocationId suffering,
                                        const std::vector<RunningTask>& running) const {
  if (!latest_ || latest_->server.when <= earlier_->server.when) return std::nullopt;
  const auto found = std::find_if(running.begin(), running.end(), [suffering](const RunningTask& task) {
    return task.allocation == suffering;
  });
  if (found == running.end()) return std::nullopt;
  const PressureReading &s0 = earlier_->server, &s1 = latest_->server;
  Scene scene;
  scene.server = {known(backgroundBetween(s0, s1, serverReader_->capacities())),
                  stolenShare(s0.machine, s1.machine)};
  for (const RunningTask& task : running) {
    TaskSigns signs{task.allocation, task.job, task.caused, task.tolerated, {}, shareACore(task, *found)};
    const auto before = earlier_->tasks.find(task.allocation), after = latest_->tasks.find(task.allocation);
    const bool seen = before != earlier_->tasks.end() && after != latest_->tasks.end();
    if (seen) {
      signs.measured = known(
          taskPressure(s0.machine, s1.machine, before->second, after->second, serverReader_->capacities()));
    }
    if (task.allocation != suffering) {
      scene.others.push_back(std::move(signs));
      continue;
    }
    scene.suffering = std::move(signs);
    if (seen) scene.feels = feelingsOf(task, before->second, after->second);
    const auto watched = watched_.find(suffering);
    if (watched != watched_.end() && !watched->second.kills.empty()) {
      const auto& kills = watched->second.kills;
      scene.feels.oomKills = kills.back().second - std::min(kills.front().second, kills.back().second);
    }
  }
  return scene;
}

}  // namespace tarcil
