#include "monitor/server/performance_loop.h"

#include <spdlog/spdlog.h>

#include "rpc/errors.h"

namespace tarcil {
namespace {

// A server that starts tasks all the time could have many.
constexpr size_t kMaxProblemsLogged = 1000;

}  // namespace

PerformanceLoop::PerformanceLoop(kj::Timer& timer, const Clock& clock, MonitorServer& server,
                                 ContainerExecutor& executor, CacheMonitor& cache, Duration period,
                                 const PressureOptions& options, const std::vector<uint32_t>& cores)
    : clock_(clock),
      server_(server),
      executor_(executor),
      period_(period),
      meter_(period, options, MachinePaths{}, cores, executor.counted(), cache),
      alarm_(timer, clock, [this]() { measure(); }) {
  alarm_.set(clock_.now().steady + period_);
}

// As PressureLoop::measure().
void PerformanceLoop::measure() {
  const Now begin = clock_.now();
  const Status measured = caught([this, &begin]() {
    measureOnce(begin);
    return Status();
  });
  if (!measured && failing_.begins(measured.error())) {
    spdlog::warn("the performance of tasks cannot be measured: {}; trying again", measured.error().message);
  }
  if (measured) failing_.end();
  alarm_.set(begin.steady + period_);
}

void PerformanceLoop::measureOnce(const Now& begin) {
  const std::vector<Violation> changes = meter_.measure(executor_.running(), begin);
  executor_.noteUseRates(meter_.useRates());
  server_.tell(changes);
  server_.tell(meter_.moved(begin));
  server_.noteUsual(meter_.usual());
  for (const std::string& problem : meter_.problems()) {
    if (logged_++ < kMaxProblemsLogged) spdlog::warn("{}", problem);
  }
  server_.show(meter_.load(), clock_.now().steady - begin.steady);
}

}  // namespace tarcil
