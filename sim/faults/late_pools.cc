#include "sim/faults/late_pools.h"

#include <utility>

#include "latebinding/names.h"

namespace tarcil::sim {
namespace {

constexpr Duration kChange = std::chrono::milliseconds(40);  // of the demand, within so long
constexpr Duration kMax = std::chrono::milliseconds(300);
constexpr uint64_t kMaxQueued = 8;
// Above what the master gives to tasks of its own.
constexpr AllocationId kFirstTask = AllocationId{1} << 62;

// Sooner than by default: a history is short.
late::PoolOptions options() {
  late::PoolOptions options;
  options.shrinkAfter = std::chrono::milliseconds(500);
  return options;
}

}  // namespace

LatePools::LatePools(VirtualWorld& world, const MachineClock& clock, TaskChecker& checker,
                     std::string machine, Report report)
    : world_(world),
      clock_(clock),
      checker_(checker),
      machine_(std::move(machine)),
      report_(std::move(report)) {}

void LatePools::start(const std::vector<ServerFacts>& servers) {
  for (const auto& [task, server] : std::exchange(tasks_, {})) checker_.ended(task, {});
  ++life_;
  hasMaster_ = false;
  for (const ServerFacts& facts : servers) {
    if (!facts.attributes.contains(std::string(late::kServerAttribute))) continue;
    const std::string& name = facts.name;
    pools_.emplace(name, Server{late::Pool(options(), life_), {}, 0});
    timers_.try_emplace(name, world_, clock_, [this, name] { update(name); });
    demand(name, life_);
  }
}

void LatePools::masterAttached() {
  if (std::exchange(hasMaster_, true)) return;
  for (const auto& [name, server] : pools_) update(name);
}

void LatePools::handle(const PoolNews& news) {
  const auto found = pools_.find(news.server);
  if (found == pools_.end()) return;
  late::Pool& pool = found->second.pool;
  if (const auto* answer = std::get_if<late::PoolAnswer>(&news.what)) {
    pool.handle(*answer, clock_.now().steady);
  } else {
    pool.handle(std::get<late::PoolLimit>(news.what));
  }
  update(news.server);
}

void LatePools::demand(const std::string& name, uint64_t life) {
  world_.after(world_.upTo(kChange), [this, name, life] {
    const auto found = pools_.find(name);
    if (life != life_ || found == pools_.end()) return;
    found->second.queued = areWanted_ ? static_cast<uint32_t>(world_.rng().below(kMaxQueued)) : 0;
    update(name);
    demand(name, life);
  });
}

void LatePools::startTask(const std::string& name, Server& server) {
  LaunchSpec spec;
  spec.allocation = kFirstTask + world_.nextNumber();
  spec.server = name;
  spec.task = static_cast<TaskIndex>(spec.allocation);
  spec.rus = {server.pool.take()};
  server.running.emplace(spec.allocation, spec.rus.front());
  tasks_[spec.allocation] = name;
  --server.queued;
  ++started_;
  checker_.starts(machine_, spec);
  world_.after(world_.upTo(kMax), [this, task = spec.allocation, life = life_] {
    if (life == life_) endTask(task);
  });
}

void LatePools::endTask(AllocationId task) {
  const auto ended = tasks_.extract(task);
  if (ended.empty()) return;
  checker_.ended(task, {});
  const auto found = pools_.find(ended.mapped());
  if (found == pools_.end()) return;  // the monitor is dead
  Server& server = found->second;
  server.pool.release(server.running.extract(task).mapped());
  update(ended.mapped());
}

void LatePools::update(const std::string& name) {
  const auto found = pools_.find(name);
  if (found == pools_.end()) return;
  Server& server = found->second;
  const auto busy = [&server] { return static_cast<uint32_t>(server.running.size()); };
  while (server.queued > 0 && busy() < server.pool.slots()) startTask(name, server);
  if (!hasMaster_) return;
  const auto report = server.pool.update({busy(), server.queued}, clock_.now().steady);
  if (report) report_(name, *report);
  VirtualTimer& timer = timers_.at(name);
  const MonotonicTime next = server.pool.nextWake();
  next == MonotonicTime::max() ? timer.clear() : timer.set(next);
}

}  // namespace tarcil::sim
