#include "monitor/server/pressure_loop.h"

#include <spdlog/spdlog.h>

#include <map>
#include <string>

#include "rpc/errors.h"

namespace tarcil {
namespace {

// Reasons that name places in files could be many.
constexpr size_t kMaxLogged = 100;

}  // namespace

PressureLoop::PressureLoop(kj::Timer& timer, const Clock& clock, MonitorServer& server, std::string name,
                           const PressureOptions& options, const std::set<uint32_t>& cores,
                           const ContainerExecutor& executor, const CacheMonitor& cache)
    : clock_(clock),
      server_(server),
      executor_(executor),
      period_(options.period),
      alarm_(timer, clock, [this]() { measure(); }) {
  if (period_ > Duration::zero()) {
    meter_.emplace(std::move(name), options, MachinePaths{}, cores, executor.counted(), &cache);
    measure();
  } else {
    server_.tell(unmeasured(std::move(name), "measuring is off (--pressure-period)"));
  }
}

// What cannot be measured now may be the next time, and keeps nobody from running tasks.
void PressureLoop::measure() {
  const MonotonicTime begin = clock_.now().steady;
  const Status measured = caught([this, begin]() {
    measureOnce(begin);
    return Status();
  });
  if (!measured && failing_.begins(measured.error())) {
    spdlog::warn("the pressure on this server cannot be measured: {}; trying again",
                 measured.error().message);
  }
  if (measured) failing_.end();
  alarm_.set(begin + period_);
}

void PressureLoop::measureOnce(MonotonicTime begin) {
  const auto message = meter_->measure(executor_.running(), begin);
  server_.show(meter_->background(), meter_->signals(), clock_.now().steady - begin);
  if (message) {
    logOnce(*message);
    server_.tell(*message);
  }
}

void PressureLoop::logOnce(const ServerPressure& pressure) {
  std::map<std::string, std::string> fresh;  // resources, by the reason
  for (const AbsentPressure& absent : pressure.absent) {
    if (logged_.size() >= kMaxLogged || !logged_.emplace(absent.resource, absent.reason).second) continue;
    std::string& resources = fresh[absent.reason];
    resources += (resources.empty() ? "" : ", ") + std::string(absent.resourceName());
  }
  std::string text;
  for (const auto& [reason, resources] : fresh)
    text += (text.empty() ? "" : "; ") + resources + ": " + reason;
  if (!text.empty()) spdlog::info("background that is not measured: {}", text);
}

}  // namespace tarcil
