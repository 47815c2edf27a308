#include "monitor/late_emulated.h"

#include "monitor/emulated_executor.h"

namespace tarcil {

LateEmulated::LateEmulated(kj::Timer& timer, const Clock& clock)
    : clock_(clock), alarm_(timer, clock, [this]() { advance(); }) {}

std::optional<int32_t> LateEmulated::start(LateTask task) {
  const EmulatedBehaviour behaviour = emulatedBehaviour(task.launch);
  if (!behaviour.problem.empty()) return kCodeNotStarted;
  const bool isCutOff = task.launch.timeout > Duration(0) && task.launch.timeout < behaviour.lasts;
  const Duration lasts = isCutOff ? task.launch.timeout : behaviour.lasts;
  const int32_t code = isCutOff ? kCodeTimedOut : behaviour.exitCode;
  if (lasts == Duration(0)) return code;
  const auto added = running_.emplace(clock_.now().steady + lasts, Running{task.server, task.turn, code});
  if (added == running_.begin()) alarm_.set(added->first);
  return std::nullopt;
}

void LateEmulated::advance() {
  const MonotonicTime now = clock_.now().steady;
  while (!running_.empty() && running_.begin()->first <= now) {
    const Running ended = running_.begin()->second;
    running_.erase(running_.begin());
    listener_->lateTaskEnded(ended.server, ended.turn, ended.code);
  }
  if (!running_.empty()) alarm_.set(running_.begin()->first);
}

}  // namespace tarcil
