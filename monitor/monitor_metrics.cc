#include "monitor/monitor_metrics.h"

namespace tarcil {

void MonitorMetrics::show(const MonitorLogic::Load& load, bool isAttached) {
  for (size_t i = 0; i < tasks.size(); ++i) tasks[i]->Set(static_cast<double>(load.tasks[i]));
  reportsDue.Set(static_cast<double>(load.reportsDue));
  reportsUnderWay.Set(static_cast<double>(load.reportsUnderWay));
  attached.Set(isAttached ? 1 : 0);
}

}  // namespace tarcil
