#include "monitor/server/monitor_metrics.h"

#include <cmath>

#include "env/loop_step.h"

namespace tarcil {
namespace {

double valueOrNan(const Result<double>& value) {
  return value.ok() ? *value : NAN;
}

}  // namespace

MonitorMetrics::MonitorMetrics() {
  for (const auto& gauges : {background, stalls, {&majorFaults, &swappedPages}}) {
    for (prometheus::Gauge* gauge : gauges) gauge->Set(NAN);
  }
}

void MonitorMetrics::showPressure(const std::array<std::optional<double>, kResources>& measured,
                                  const PressureMeter::Signals& signals, Duration took) {
  for (size_t i = 0; i < background.size(); ++i) background[i]->Set(measured[i].value_or(NAN));
  for (size_t i = 0; i < stalls.size(); ++i) stalls[i]->Set(valueOrNan(signals.stalls[i]));
  majorFaults.Set(valueOrNan(signals.majorFaultsPerSecond));
  swappedPages.Set(valueOrNan(signals.swappedPagesPerSecond));
  measuring.Observe(seconds(took));
}

void MonitorMetrics::showLate(const LateBindingMonitor::Load& load) {
  lateUnits.Set(static_cast<double>(load.units));
  lateBusy.Set(static_cast<double>(load.busy));
  lateQueued.Set(static_cast<double>(load.queued));
  raiseTo(lateReserved, load.counts.reserved);
  raiseTo(*lateLeases[0], load.counts.given);
  raiseTo(*lateLeases[1], load.counts.noneLeft);
  raiseTo(*lateLeases[2], load.counts.cancelled);
  raiseTo(*lateLeases[3], load.counts.givenUp);
}

void MonitorMetrics::showTasks(const TaskMeter::Load& load, Duration took) {
  watchedTasks.Set(static_cast<double>(load.watched));
  degradedTasks.Set(static_cast<double>(load.isDegraded));
  droppedMetrics.Increment(static_cast<double>(load.dropped) - droppedMetrics.Value());
  watching.Observe(seconds(took));
}

void MonitorMetrics::show(const MonitorLogic::Load& load, bool isAttached) {
  for (size_t i = 0; i < tasks.size(); ++i) tasks[i]->Set(static_cast<double>(load.tasks[i]));
  longestStep.Set(seconds(tarcil::longestStep().took));
  reportsDue.Set(static_cast<double>(load.reportsDue));
  reportsUnderWay.Set(static_cast<double>(load.reportsUnderWay));
  attached.Set(isAttached ? 1 : 0);
}

}  // namespace tarcil
