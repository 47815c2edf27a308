#include "monitor/logic/emulated_executor.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <string>
#include <string_view>

namespace tarcil {
namespace {

// Longer than any cluster lives, short enough for sums of times.
constexpr double kMaxSeconds = 1e9;

// Samples come ten times a second.
constexpr Duration kMinWindow = std::chrono::milliseconds(300);

template <typename Number>
std::optional<Number> parseNumber(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Duration> parseSeconds(std::string_view text, double unit) {
  const auto number = parseNumber<double>(text);
  // Negated, so that "nan" is refused too.
  if (!number || !(*number >= 0 && *number * unit <= kMaxSeconds)) return std::nullopt;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*number * unit));
}

std::optional<Duration> parseSleepTime(std::string_view text) {
  const char suffix = text.empty() ? '\0' : text.back();
  if (suffix == 's' || suffix == 'm') text.remove_suffix(1);
  return parseSeconds(text, suffix == 'm' ? 60 : 1);
}

EmulatedBehaviour sleeping(const std::vector<std::string>& command) {
  EmulatedBehaviour behaviour;
  if (command.size() < 2) behaviour.exitCode = 1;
  for (size_t i = 1; i < command.size(); ++i) {
    const auto time = parseSleepTime(command[i]);
    if (!time || behaviour.lasts > std::chrono::duration<double>(kMaxSeconds)) return {.exitCode = 1};
    behaviour.lasts += *time;
  }
  return behaviour;
}

EmulatedBehaviour fromEnvironment(const std::map<std::string, std::string>& env) {
  EmulatedBehaviour behaviour{.lasts = std::chrono::seconds(1), .slows = true};
  if (const auto found = env.find("TARCIL_EMULATE_SECONDS"); found != env.end()) {
    const auto lasts = parseSeconds(found->second, 1);
    if (!lasts)
      return {.problem = "TARCIL_EMULATE_SECONDS is not a number of seconds: '" + found->second + "'"};
    behaviour.lasts = *lasts;
  }
  if (const auto found = env.find("TARCIL_EMULATE_EXIT"); found != env.end()) {
    const auto code = parseNumber<uint8_t>(found->second);
    if (!code)
      return {.problem = "TARCIL_EMULATE_EXIT is not an exit code (0 to 255): '" + found->second + "'"};
    behaviour.exitCode = *code;
  }
  return behaviour;
}

}  // namespace

EmulatedBehaviour emulatedBehaviour(const LaunchSpec& spec) {
  const std::string path = spec.command.empty() ? "" : spec.command[0];
  const std::string program = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  if (program == "sleep") return sleeping(spec.command);
  if (program == "true") return {};
  if (program == "false") return {.exitCode = 1};
  return fromEnvironment(spec.env);
}

EmulatedExecutor::EmulatedExecutor(ExecutorListener& listener, Now now, std::map<std::string, Share> shares)
    : listener_(listener), now_(now), shares_(std::move(shares)) {}

void EmulatedExecutor::record(const LaunchSpec&) {}

void EmulatedExecutor::extendLease(MonotonicTime until) {
  agenda_.erase({leaseEnd_, 0, What::kLeaseEnd});
  leaseEnd_ = until;
  agenda_.insert({leaseEnd_, 0, What::kLeaseEnd});
}

void EmulatedExecutor::start(const LaunchSpec& spec, const std::vector<InputFile>&,
                             const std::vector<TaskSecret>&) {
  EmulatedBehaviour behaviour = emulatedBehaviour(spec);
  const auto nature = natureOf(spec);
  if (!nature && behaviour.problem.empty()) behaviour = {.problem = nature.error().message};
  const auto [found, isNew] = tasks_.try_emplace(spec.allocation);
  if (!isNew) return;
  Task& task = found->second;
  task.ends = now_.steady + behaviour.lasts;
  task.end.exitCode = behaviour.exitCode;
  task.exclusive = spec.exclusive;
  agenda_.insert({task.ends, spec.allocation, What::kEnd});
  if (!behaviour.problem.empty()) {
    task.end.cause = EndCause::kNeverStarted;
    task.end.problem = behaviour.problem;
    task.end.exitCode = 126;  // the job is wrong, not the server
    return;
  }
  task.end.started = now_.wall;
  agenda_.insert({now_.steady, spec.allocation, What::kStart});
  task.nature = *nature;
  task.slows = behaviour.slows;
  task.workLeft = static_cast<double>(behaviour.lasts.count());
  join(spec.allocation, spec);
}

void EmulatedExecutor::join(AllocationId allocation, const LaunchSpec& spec) {
  Task& task = tasks_.at(allocation);
  task.server = spec.server;
  task.units = spec.rus.size();
  task.job = spec.job;
  task.caused = spec.caused;
  task.tolerated = spec.tolerated;
  task.changed = now_.steady;
  if (spec.performance) {
    PerformanceGoal goal = *spec.performance;
    if (goal.target <= 0) goal.target = 1;  // what it does alone is known here
    goal.window = std::max(goal.window, kMinWindow);
    task.target = goal.target;
    watch_.begin(allocation, goal);
  }
  servers_[spec.server].insert(allocation);
  reckonServer(spec.server);
}

void EmulatedExecutor::leave(AllocationId allocation, const Task& task) {
  watch_.end(allocation);
  const auto server = servers_.find(task.server);
  if (server == servers_.end() || server->second.erase(allocation) == 0) return;
  if (server->second.empty()) {
    servers_.erase(server);
  } else {
    reckonServer(task.server);
  }
}

// The speeds of all tasks there, from now on.
void EmulatedExecutor::reckonServer(const std::string& server) {
  const auto& there = servers_.at(server);
  std::array<double, kResources> all{};
  for (const AllocationId allocation : there) {
    const TrueNature& nature = tasks_.at(allocation).nature;
    for (size_t i = 0; i < kResources; ++i) all[i] += nature.pressure[i];
  }
  for (const AllocationId allocation : there) {
    Task& task = tasks_.at(allocation);
    if (!task.slows) continue;
    std::array<double, kResources> interference{};
    for (size_t i = 0; i < kResources; ++i) interference[i] = std::max(0.0, all[i] - task.nature.pressure[i]);
    setSpeed(allocation, task, speedOf(task.nature, interference, shareOf(server), task.units));
  }
}

void EmulatedExecutor::setSpeed(AllocationId allocation, Task& task, double speed) {
  if (speed == task.speed || task.ends <= now_.steady) return;
  const auto since = static_cast<double>((now_.steady - task.changed).count());
  task.workLeft = std::max(0.0, task.workLeft - since * task.speed);
  task.changed = now_.steady;
  task.speed = speed;
  agenda_.erase({task.ends, allocation, What::kEnd});
  const double left = std::min(std::ceil(task.workLeft / speed), kMaxSeconds * 1e8);
  task.ends = now_.steady + Duration(static_cast<int64_t>(left));
  agenda_.insert({task.ends, allocation, What::kEnd});
}

const Share& EmulatedExecutor::shareOf(const std::string& server) const {
  static constexpr Share kFull = fullShare();
  const auto found = shares_.find(server);
  return found == shares_.end() ? kFull : found->second;
}

std::optional<double> EmulatedExecutor::speed(AllocationId allocation) const {
  const auto found = tasks_.find(allocation);
  if (found == tasks_.end() || found->second.end.started == kNever) return std::nullopt;
  return found->second.speed;
}

std::vector<Violation> EmulatedExecutor::sample() {
  for (const auto& [allocation, task] : tasks_) {
    if (task.target > 0) watch_.take(allocation, task.speed * task.target, now_);
  }
  return watch_.changes([this](AllocationId allocation) { return sceneOf(allocation); }, now_);
}

std::optional<Scene> EmulatedExecutor::sceneOf(AllocationId allocation) const {
  const auto found = tasks_.find(allocation);
  if (found == tasks_.end()) return std::nullopt;
  const Task& suffering = found->second;
  const Share& share = shareOf(suffering.server);
  Scene scene;
  scene.server.background.fill(0);
  scene.server.stolen = 0;
  for (const AllocationId there : servers_.at(suffering.server)) {
    const Task& task = tasks_.at(there);
    // Units are nobody else's, so nobody waits for a core because of a neighbour.
    TaskSigns signs{there, task.job, task.caused, task.tolerated, {}, false};
    for (size_t i = 0; i < kResources; ++i) {
      signs.measured[i] = kMaxPressure * task.nature.pressure[i] * share[i] / kShareUnit;
    }
    (there == allocation ? scene.suffering = std::move(signs) : scene.others.emplace_back(std::move(signs)));
  }
  const auto units = static_cast<double>(suffering.units);
  const double wants = suffering.nature.cores > 0 ? suffering.nature.cores : units;
  scene.feels.coresHeld = units;
  scene.feels.coresUsed = std::min(units, wants);
  scene.feels.waitedForCore = wants > units ? 1 - units / wants : 0;
  return scene;
}

void EmulatedExecutor::recordReason(AllocationId, EndCause) {}

Status EmulatedExecutor::resize(AllocationId allocation, const std::vector<RuIndex>& rus) {
  const auto found = tasks_.find(allocation);
  if (found == tasks_.end() || found->second.end.started == kNever) {
    return notFound("this task is not running");
  }
  found->second.units = rus.size();
  reckonServer(found->second.server);
  return {};
}

Status EmulatedExecutor::throttle(AllocationId, const Throttle&) {
  return Error{ErrorCode::kUnavailable, "emulated tasks are not throttled"};
}

void EmulatedExecutor::signal(AllocationId allocation, int signal) {
  const auto found = tasks_.find(allocation);
  if (found == tasks_.end() || (signal != SIGTERM && signal != SIGKILL)) return;
  Task& task = found->second;
  if (task.ends <= now_.steady) return;  // ended already, only not told yet
  endNow(allocation, task);
  task.end.signal = signal;
}

void EmulatedExecutor::endNow(AllocationId allocation, Task& task) {
  agenda_.erase({task.ends, allocation, What::kEnd});
  task.ends = now_.steady;
  task.end.exitCode = 0;
  agenda_.insert({task.ends, allocation, What::kEnd});
}

void EmulatedExecutor::loseExclusive() {
  for (auto& [allocation, task] : tasks_) {
    if (!task.exclusive || task.ends <= now_.steady) continue;
    endNow(allocation, task);
    task.end.cause = EndCause::kLost;
    task.end.problem = "exclusive, and the master was out of its server's reach for longer than the lease";
  }
}

void EmulatedExecutor::forget(AllocationId) {}

std::vector<RecoveredTask> EmulatedExecutor::recover() {
  return {};
}

void EmulatedExecutor::advance(Now now) {
  while (!agenda_.empty() && agenda_.begin()->when <= now.steady) {
    const Due due = agenda_.extract(agenda_.begin()).value();
    // What the listener does in answer happens at the time of what it was told, however late this call is.
    now_ = {due.when, wallAt(due.when)};
    announce(due);
  }
  now_ = now;
}

std::optional<MonotonicTime> EmulatedExecutor::nextWake() const {
  if (agenda_.empty()) return std::nullopt;
  return agenda_.begin()->when;
}

void EmulatedExecutor::announce(const Due& due) {
  if (due.what == What::kLeaseEnd) return loseExclusive();
  const auto found = tasks_.find(due.allocation);
  if (due.what == What::kStart) {
    listener_.taskStarted(due.allocation, found->second.end.started);
    return;
  }
  const Task task = std::move(tasks_.extract(found).mapped());
  leave(due.allocation, task);
  TaskEnd end = task.end;
  end.ended = now_.wall;
  listener_.taskEnded(due.allocation, end);
}

WallTime EmulatedExecutor::wallAt(MonotonicTime when) const {
  return now_.wall + (when - now_.steady);
}

}  // namespace tarcil
