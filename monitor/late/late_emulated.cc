#include "monitor/late/late_emulated.h"

#include <signal.h>

#include <algorithm>

#include "monitor/logic/emulated_executor.h"

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
  const auto added = running_.emplace(clock_.now().steady + lasts, Running{task.server, task.lease, code});
  if (added == running_.begin()) alarm_.set(added->first);
  return std::nullopt;
}

// At the next iteration of the event loop.
void LateEmulated::stop(uint32_t server, late::SlotLeaseId lease) {
  const auto found = std::find_if(running_.begin(), running_.end(), [server, lease](const auto& entry) {
    return entry.second.server == server && entry.second.lease == lease;
  });
  if (found == running_.end()) return;
  running_.erase(found);
  const MonotonicTime now = clock_.now().steady;
  running_.emplace(now, Running{server, lease, kCodeSignal + SIGTERM});
  alarm_.set(now);
}

void LateEmulated::advance() {
  const MonotonicTime now = clock_.now().steady;
  while (!running_.empty() && running_.begin()->first <= now) {
    const Running ended = running_.begin()->second;
    running_.erase(running_.begin());
    listener_->lateTaskEnded(ended.server, ended.lease, ended.code);
  }
  if (!running_.empty()) alarm_.set(running_.begin()->first);
}

}  // namespace tarcil
