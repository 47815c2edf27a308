// What a master counts and times; docs/metrics.md says what to make of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/state/commit.h"
#include "master/logic/master_logic.h"
#include "master/logic/servers/published_state.h"
#include "master/server/output_gate.h"
#include "metrics/metric_set.h"

namespace tarcil {

// Belongs to the server; the logic has counts of its own (MasterLogic::load()).
struct MasterMetrics {
  MetricSet set;

  std::vector<prometheus::Counter*> commits =
      set.counters("tarcil_master_commits_total", "Commits answered, by outcome.", "outcome",
                   {"ok", "job_exists", "job_over", "refused", "superseded", "busy", "files_missing"});
  std::vector<prometheus::Counter*> claims =
      set.counters("tarcil_master_claims_total", "Claims answered, by verdict.", "verdict", verdicts());
  std::vector<prometheus::Counter*> conflicts = set.counters(
      "tarcil_master_conflicts_total",
      "Commits of which a claim was refused, by the first verdict against one.", "reason", refusals());

  prometheus::Histogram& batchSize = set.histogram(
      "tarcil_master_commit_batch_size", "Records written with one sync of the disk.", numberBounds());
  prometheus::Histogram& sync =
      set.histogram("tarcil_master_sync_seconds", "Time to write one batch and sync the disk.", timeBounds());
  prometheus::Histogram& outputWait =
      set.histogram("tarcil_master_output_wait_seconds",
                    "Time from the first record of a batch until what waited for it leaves.", timeBounds());

  prometheus::Histogram& feedLag = set.histogram(
      "tarcil_master_feed_lag_seconds",
      "Time from a change until an agent has confirmed it, once for each message.", timeBounds());
  prometheus::Histogram& snapshot =
      set.histogram("tarcil_master_snapshot_seconds", "Time to bring an agent that attached the whole state.",
                    timeBounds());
  GaugeByName behind =
      set.gaugeByName("tarcil_master_feed_behind_seconds",
                      "Age of the oldest change that the agent has not confirmed yet.", "agent");
  GaugeByName pending = set.gaugeByName("tarcil_master_feed_pending_servers",
                                        "Servers whose newest states wait to be sent to the agent.", "agent");

  prometheus::Gauge& waiting = set.gauge("tarcil_master_waiting_jobs",
                                         "Jobs that could use more slots than they have: the queue's depth.");
  std::vector<prometheus::Gauge*> jobs = set.gauges(
      "tarcil_master_jobs", "Jobs by state; finished ones as long as they are kept.", "state", states());
  std::vector<prometheus::Gauge*> units = set.gauges(
      "tarcil_master_rus", "Resource units: held by tasks, free, or idle on a server that takes no tasks.",
      "state", {"held", "free", "idle"});
  std::vector<prometheus::Gauge*> servers =
      set.gauges("tarcil_master_servers", "Servers by state.", "state", {"up", "cordoned", "down"});
  prometheus::Gauge& quarantined =
      set.gauge("tarcil_master_quarantined_servers", "Servers set aside because they start no tasks.");
  prometheus::Gauge& reserved = set.gauge({"tarcil_master_reserved_servers", {"tarcil_master_kept_servers"}},
                                          "Servers reserved for waiting jobs.");
  prometheus::Counter& preempted = set.counter("tarcil_master_preempted_tasks_total",
                                               "Tasks that were ended for jobs of a higher priority.");
  prometheus::Gauge& degraded =
      set.gauge({"tarcil_master_degraded_tasks", {"tarcil_master_troubled_tasks"}},
                "Tasks that perform below what their jobs expect, or did a moment ago.");
  prometheus::Gauge& autoCordoned =
      set.gauge({"tarcil_master_auto_cordoned_servers", {"tarcil_master_shielded_servers"}},
                "Servers that take no new tasks because of a degraded task there.");
  // In the order of AdjustingCounts.
  std::vector<prometheus::Counter*> adjusted =
      set.counters("tarcil_master_adjusting_steps_total", "Steps taken for degraded tasks.", "step",
                   {"shield", "throttle", "grow", "move"});
  std::vector<prometheus::Counter*> violationsBegun =
      set.counters("tarcil_master_violations_total",
                   "Performance violations that began, by their likeliest causes.", "cause", causes());
  std::vector<prometheus::Gauge*> violations =
      set.gauges("tarcil_master_violations",
                 "Performance violations that last, and those that ended and whose steps are not undone yet.",
                 "state", {"lasting", "ended"});

  // Of the last survey (survey_metrics.h).
  std::vector<prometheus::Gauge*> runningTasks = set.gauges(
      "tarcil_master_running_tasks",
      "Running tasks by performance: at or above target, predicted to be below it, measured to be below.",
      "state", {"at_target", "predicted_below", "measured_below"});
  std::vector<prometheus::Gauge*> satisfaction =
      set.gauges("tarcil_master_satisfaction",
                 "Mean satisfaction, 0 to 1, of running tasks: as promised when they were placed, and now; "
                 "NaN where none runs.",
                 "when", {"promised", "now"});
  std::vector<prometheus::Gauge*> contention = set.gauges(
      "tarcil_master_most_contention", "Contention, 0 to 99, where it is greatest.", "resource", resources());
  std::vector<prometheus::Gauge*> slack = set.gauges("tarcil_master_least_slack",
                                                     "Pressure, -99 to 99, that tasks tolerate beyond what "
                                                     "there is, where that is least; NaN where none can be "
                                                     "disturbed.",
                                                     "resource", resources());
  std::vector<prometheus::Gauge*> overloaded =
      set.gauges("tarcil_master_overloaded_servers", "Servers with a task that tolerates less than there is.",
                 "resource", resources());
  std::vector<prometheus::Gauge*> sharing = set.gauges(
      "tarcil_master_sharing_rus",
      "Resource units that jobs use, and those of the servers that they would take without sharing any.",
      "kind", {"used", "alone"});
  prometheus::Gauge& unlisted =
      set.gauge("tarcil_master_unlisted_servers",
                "Servers without series of their own, since there are too many servers.");
  prometheus::Gauge& survey =
      set.gauge("tarcil_master_survey_seconds",
                "Time that the last survey took, from which these come, with all that was "
                "done in between.");

  prometheus::Gauge& agents = set.gauge("tarcil_master_agent_leases", "Agents that are attached.");
  prometheus::Gauge& monitors = set.gauge("tarcil_master_monitor_leases", "Monitors that are attached.");

  prometheus::Gauge& longestStep = set.gauge("tarcil_master_longest_step_seconds", kLongestStepHelp);

  prometheus::Gauge& storeBytes = set.gauge("tarcil_master_store_bytes", "Size of the store's files.");
  prometheus::Gauge& diskFree = set.gauge("tarcil_master_disk_free_bytes", "Room left on the store's disk.");

  // An answer that leaves; a batch that has been written.
  void count(const CommitAnswer& answer);
  void count(const WrittenBatch& batch);

  // Sets what is looked up when somebody asks. `feeds`: by agent.
  struct Feed {
    Duration behind;
    size_t pending;
  };
  void show(const MasterLogic::Load& load, const PublishedState::Counts& state, uint64_t bytes,
            const std::map<std::string, Feed>& feeds);

  // Sets what a survey found that took so long.
  void show(const ClusterSurvey& found, Duration took);

  // In the order of RunState.
  static std::vector<std::string_view> states();
  // In the order of Verdict; the refusals are all but the first.
  static std::vector<std::string_view> verdicts();
  static std::vector<std::string_view> refusals();
  // In the order of Cause::Kind, and of the resources.
  static std::vector<std::string_view> causes();
  static std::vector<std::string_view> resources();
};

}  // namespace tarcil
