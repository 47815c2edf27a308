#include "monitor/monitor_metrics.h"

namespace tarcil {

void MonitorMetrics::show(const MonitorLogic::Load& load, bool isAttached) {
  size_t i = 0;
  for (size_t count : {load.fetching, load.waiting, load.starting, load.running, load.ended}) {
    tasks[i++]->Set(static_cast<double>(count));
  }
  reportsDue.Set(static_cast<double>(load.reportsDue));
  reportsUnderWay.Set(static_cast<double>(load.reportsUnderWay));
  attached.Set(isAttached ? 1 : 0);
}

}  // namespace tarcil
