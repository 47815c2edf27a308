// What a monitor counts and times; docs/metrics.md says what to make of it.
#pragma once

#include <vector>

#include "metrics/metric_set.h"
#include "monitor/late/late_binding.h"
#include "monitor/logic/monitor_logic.h"
#include "monitor/performance/task_meter.h"
#include "monitor/pressure/meter.h"

namespace tarcil {

// Belongs to the shell; the logic gives counts of its own (MonitorLogic::load()).
struct MonitorMetrics {
  MetricSet set;

  std::vector<prometheus::Counter*> launches = set.counters(
      "tarcil_monitor_launches_total", "Launches answered, by outcome; all but accepted are refusals.",
      "outcome", {"accepted", "revoked", "unknown_server"});
  prometheus::Histogram& start =
      set.histogram("tarcil_monitor_start_seconds",
                    "Time from an accepted launch until the task's command was executed.", timeBounds());
  std::vector<prometheus::Counter*> ends =
      set.counters("tarcil_monitor_task_ends_total",
                   "Ends of tasks reported to the master, by cause; once more after a lost connection.",
                   "cause", {"exited", "never_started", "cancelled", "timed_out", "lost"});
  std::vector<prometheus::Gauge*> tasks =
      set.gauges("tarcil_monitor_tasks",
                 "Tasks by phase: fetching their files, waiting for their units, starting, running, or "
                 "ended and not yet forgotten.",
                 "phase", {"fetching", "waiting", "starting", "running", "ended"});
  prometheus::Gauge& reportsDue =
      set.gauge("tarcil_monitor_reports_due", "Starts and ends of tasks that wait to be reported.");
  prometheus::Gauge& reportsUnderWay =
      set.gauge("tarcil_monitor_reports_under_way", "Reports that the master has not acknowledged.");
  prometheus::Histogram& report =
      set.histogram("tarcil_monitor_report_seconds",
                    "Time from a message of reports until the master has them on disk.", timeBounds());
  prometheus::Gauge& attached =
      set.gauge("tarcil_monitor_attached", "1 while the monitor is attached to the master, else 0.");

  prometheus::Gauge& longestStep = set.gauge("tarcil_monitor_longest_step_seconds", kLongestStepHelp);

  // Of late-bound tasks.
  prometheus::Gauge& lateUnits =
      set.gauge("tarcil_monitor_late_rus", "Resource units lent to late-bound tasks.");
  prometheus::Gauge& lateBusy = set.gauge("tarcil_monitor_late_busy_rus",
                                          "Of them, those on which a late-bound task runs or is asked for.");
  prometheus::Gauge& lateQueued =
      set.gauge("tarcil_monitor_late_queued", "Reservations that wait for a unit.");
  prometheus::Counter& lateReserved =
      set.counter("tarcil_monitor_late_reservations_total", "Reservations taken from agents.");
  std::vector<prometheus::Counter*> lateLeases =
      set.counters({"tarcil_monitor_late_reservation_ends_total", {"tarcil_monitor_late_turns_total"}},
                   "Ends of reservations: with a task, with the answer that none is left, cancelled while "
                   "queued, or never answered.",
                   "outcome", {"task", "none", "cancelled", "unanswered"});

  // NaN where they are absent.
  std::vector<prometheus::Gauge*> background =
      set.gauges("tarcil_monitor_background_pressure",
                 "Pressure, 0 to 99, that no task of the cluster explains; NaN where it cannot be measured.",
                 "resource", {kResourceNames.begin(), kResourceNames.end()});
  std::vector<prometheus::Gauge*> stalls =
      set.gauges("tarcil_monitor_stall_share",
                 "Share of the time in which something on the server waited for it; NaN where it cannot be "
                 "measured.",
                 "for", {"core", "memory", "disk"});
  prometheus::Gauge& majorFaults =
      set.gauge("tarcil_monitor_major_faults_per_second",
                "Page faults on the server that a disk had to answer; NaN where they cannot be counted.");
  prometheus::Gauge& swappedPages =
      set.gauge("tarcil_monitor_swapped_pages_per_second",
                "Pages swapped in and out on the server; NaN where they cannot be counted.");
  prometheus::Histogram& measuring = set.histogram(
      "tarcil_monitor_measuring_seconds", "Time that one measurement of the pressures took.", timeBounds());

  prometheus::Gauge& watchedTasks =
      set.gauge("tarcil_monitor_watched_tasks", "Running tasks whose performance is watched.");
  prometheus::Gauge& degradedTasks =
      set.gauge({"tarcil_monitor_degraded_tasks", {"tarcil_monitor_tasks_in_trouble"}},
                "Watched tasks that fall short of what is expected of them.");
  prometheus::Counter& droppedMetrics =
      set.counter("tarcil_monitor_dropped_metrics_total",
                  "Reports of tasks on their performance that were thrown away: more came in one period than "
                  "are read.");
  prometheus::Histogram& watching = set.histogram(
      "tarcil_monitor_watching_seconds",
      "Time that looking after the performance of all tasks took, once a period.", timeBounds());

  MonitorMetrics();

  // Sets what is looked up when somebody asks.
  void show(const MonitorLogic::Load& load, bool isAttached);

  void showLate(const LateBindingMonitor::Load& load);

  void showTasks(const TaskMeter::Load& load, Duration took);

  void showPressure(const std::array<std::optional<double>, kResources>& measured,
                    const PressureMeter::Signals& signals, Duration took);
};

}  // namespace tarcil
