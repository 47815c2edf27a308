#include "monitor/emulated_executor.h"

#include <charconv>
#include <csignal>
#include <string>
#include <string_view>

namespace tarcil {
namespace {

// Longer than any cluster lives, short enough for sums of times.
constexpr double kMostSeconds = 1e9;

// What a command comes to when nothing interferes.
struct Behaviour {
  Duration lasts{};
  int exitCode = 0;
  std::string problem{};  // why it never starts; empty where it does
};

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
  if (!number || !(*number >= 0 && *number * unit <= kMostSeconds)) return std::nullopt;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*number * unit));
}

std::optional<Duration> parseSleepTime(std::string_view text) {
  const char suffix = text.empty() ? '\0' : text.back();
  if (suffix == 's' || suffix == 'm') text.remove_suffix(1);
  return parseSeconds(text, suffix == 'm' ? 60 : 1);
}

Behaviour sleeping(const std::vector<std::string>& command) {
  Behaviour behaviour;
  if (command.size() < 2) behaviour.exitCode = 1;
  for (size_t i = 1; i < command.size(); ++i) {
    const auto time = parseSleepTime(command[i]);
    if (!time || behaviour.lasts > std::chrono::duration<double>(kMostSeconds)) return {.exitCode = 1};
    behaviour.lasts += *time;
  }
  return behaviour;
}

Behaviour fromEnvironment(const std::map<std::string, std::string>& env) {
  Behaviour behaviour{.lasts = std::chrono::seconds(1)};
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

Behaviour behaviourOf(const LaunchSpec& spec) {
  const std::string path = spec.command.empty() ? "" : spec.command[0];
  const std::string program = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  if (program == "sleep") return sleeping(spec.command);
  if (program == "true") return {};
  if (program == "false") return {.exitCode = 1};
  return fromEnvironment(spec.env);
}

}  // namespace

EmulatedExecutor::EmulatedExecutor(ExecutorListener& listener, Now now) : listener_(listener), now_(now) {}

void EmulatedExecutor::record(const LaunchSpec&) {}

void EmulatedExecutor::extendLease(MonotonicTime until) {
  agenda_.erase({leaseEnd_, 0, What::kLeaseEnd});
  leaseEnd_ = until;
  agenda_.insert({leaseEnd_, 0, What::kLeaseEnd});
}

void EmulatedExecutor::start(const LaunchSpec& spec, const std::vector<InputFile>&) {
  const Behaviour behaviour = behaviourOf(spec);
  Task task{.ends = now_.steady + behaviour.lasts, .end = {}};
  task.end.exitCode = behaviour.exitCode;
  task.exclusive = spec.exclusive;
  if (behaviour.problem.empty()) {
    task.end.started = now_.wall;
    agenda_.insert({now_.steady, spec.allocation, What::kStart});
  } else {
    task.end.cause = EndCause::kNeverStarted;
    task.end.problem = behaviour.problem;
    task.end.exitCode = 126;  // the job is wrong, not the server
  }
  agenda_.insert({task.ends, spec.allocation, What::kEnd});
  tasks_.emplace(spec.allocation, std::move(task));
}

void EmulatedExecutor::recordReason(AllocationId, EndCause) {}

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
  TaskEnd end = std::move(found->second.end);
  end.ended = now_.wall;
  tasks_.erase(found);
  listener_.taskEnded(due.allocation, end);
}

WallTime EmulatedExecutor::wallAt(MonotonicTime when) const {
  return now_.wall + (when - now_.steady);
}

}  // namespace tarcil
