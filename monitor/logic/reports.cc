#include "monitor/logic/reports.h"

#include "monitor/logic/task_life.h"

namespace tarcil::monitor {
namespace {

// In one message: a few hundred kilobytes.
constexpr size_t kMaxReports = 1'000;

}  // namespace

void queueReport(Tables& tables, Task& task) {
  if (std::exchange(task.reportDue, true)) return;
  tables.due.push_back(task.spec.allocation);
}

void sendReports(EventContext& context) {
  Tables& tables = context.tables;
  if (!tables.attached || !tables.underWay.empty()) return;
  SendReports message;
  for (; !tables.due.empty() && message.reports.size() < kMaxReports; tables.due.pop_front()) {
    Task* task = tables.find(tables.due.front());
    if (task == nullptr || !task->reportDue || task->intent == Intent::kDrop) continue;
    task->reportDue = false;
    TaskReport report{task->spec.allocation, task->phase == Phase::kEnded, task->end};
    if (!report.ended) report.end.started = task->started;
    if (!report.ended) report.image = task->spec.container.imageDigest;
    if (report.ended && task->spec.measures) message.measuring.push_back(message.reports.size());
    tables.underWay.emplace_back(report.allocation, report.ended);
    message.reports.push_back(std::move(report));
  }
  if (!message.reports.empty()) context.act(std::move(message));
}

void acknowledgeReports(EventContext& context) {
  for (const auto& [allocation, ended] : std::exchange(context.tables.underWay, {})) {
    if (ended && context.tables.tasks.contains(allocation)) forget(context, allocation);
  }
}

void reportAnew(Tables& tables) {
  tables.underWay.clear();
  tables.due.clear();
  for (auto& [allocation, task] : tables.tasks) {
    task.reportDue = false;
    const bool tells = task.phase == Phase::kRunning || task.phase == Phase::kEnded;
    if (tells && task.intent != Intent::kDrop) queueReport(tables, task);
  }
}

}  // namespace tarcil::monitor
