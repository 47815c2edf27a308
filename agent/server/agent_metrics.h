// What an agent counts and times; docs/metrics.md says what to make of it.
#pragma once

#include <vector>

#include "agent/logic/agent_logic.h"
#include "core/state/commit.h"
#include "latebinding/job_scheduler.h"
#include "metrics/metric_set.h"

namespace tarcil {

// Belongs to the shell; the logic gives counts of its own (AgentLogic::load()).
struct AgentMetrics {
  MetricSet set;

  std::vector<prometheus::Counter*> submissions =
      set.counters("tarcil_agent_submissions_total", "Submissions answered, by what became of them.",
                   "outcome", {"taken", "invalid", "denied", "exhausted", "unavailable", "other"});
  prometheus::Histogram& submission = set.histogram(
      "tarcil_agent_submission_seconds", "Time from a submission's arrival to its answer.", timeBounds());

  prometheus::Counter& decisions =
      set.counter("tarcil_agent_decisions_total",
                  "Decisions for which slots were drawn, for submissions and waiting jobs.");
  prometheus::Histogram& decision = set.histogram(
      "tarcil_agent_decision_seconds",
      "Time of a decision and what goes with it; of those made together the mean.", timeBounds());
  prometheus::Histogram& draws = set.histogram(
      "tarcil_agent_decision_draws", "Slots drawn for a decision that led to a commit.", numberBounds());
  prometheus::Histogram& feasible = set.histogram(
      {"tarcil_agent_feasible_share", {"tarcil_agent_suitable_share"}},
      "Share p of the drawn slots that were acceptable, of a decision that led to a commit.", shareBounds());
  prometheus::Histogram& guarantee = set.histogram("tarcil_agent_guarantee",
                                                   "Probability that the most draws allowed find enough "
                                                   "slots where acceptable ones are no rarer than tune "
                                                   "--rarity, of one in 16 decisions that led to a commit.",
                                                   shareBounds());
  prometheus::Histogram& wait =
      set.histogram("tarcil_agent_wait_seconds",
                    "Time from a job's submission until a task of it was first given a slot.", timeBounds());

  prometheus::Gauge& longestStep = set.gauge("tarcil_agent_longest_step_seconds", kLongestStepHelp);

  prometheus::Gauge& commits =
      set.gauge("tarcil_agent_commits_in_flight", "Commits that the master has not answered.");
  prometheus::Histogram& commit = set.histogram("tarcil_agent_commit_seconds",
                                                "Time from a commit to the master's answer.", timeBounds());
  std::vector<prometheus::Counter*> launches =
      set.counters("tarcil_agent_launches_total", "Answers of monitors to launches.", "outcome",
                   {"accepted", "revoked", "unreachable"});

  std::vector<prometheus::Counter*> lateTasks =
      set.counters("tarcil_agent_late_tasks_total", "Late-bound tasks that are over, by what became of them.",
                   "outcome", {"done", "lost", "cancelled"});
  prometheus::Counter& lateProbes =
      set.counter("tarcil_agent_late_probes_total",
                  "Probes of servers for late-bound tasks that were sent, repeats included.");
  prometheus::Counter& lateCancels =
      set.counter("tarcil_agent_late_cancels_total", "Probes for late-bound tasks that were cancelled.");
  std::vector<prometheus::Counter*> lateAnswers =
      set.counters("tarcil_agent_late_answers_total", "Answers to servers that asked for a late-bound task.",
                   "answer", {"task", "none"});
  // Where the time of late-bound tasks went (Sparrow Fig. 9).
  prometheus::Histogram& lateReserve = set.histogram(
      "tarcil_agent_late_reserve_seconds",
      "Time from a late-bound task's submission until its reservation was queued.", timeBounds());
  prometheus::Histogram& lateQueue =
      set.histogram("tarcil_agent_late_queue_seconds",
                    "Time that a late-bound task's reservation was queued.", timeBounds());
  prometheus::Histogram& lateGetTask = set.histogram(
      "tarcil_agent_late_get_task_seconds", "Time that a slot waited for a late-bound task.", timeBounds());
  prometheus::Histogram& lateService =
      set.histogram("tarcil_agent_late_service_seconds", "Time that a late-bound task ran.", timeBounds());

  prometheus::Gauge& attached =
      set.gauge("tarcil_agent_attached", "1 while the agent is attached to the master, else 0.");
  prometheus::Gauge& copyAge =
      set.gauge("tarcil_agent_copy_age_seconds",
                "Time since the agent last heard from the master what its copy of the state should be.");
  prometheus::Counter& comparisons =
      set.counter("tarcil_agent_copy_comparisons_total",
                  "Comparisons of the agent's copy of the state with the master's checksum.");
  prometheus::Counter& mismatches =
      set.counter("tarcil_agent_copy_mismatches_total",
                  "Comparisons that showed a difference, so that the copy was fetched again.");
  prometheus::Gauge& jobs = set.gauge("tarcil_agent_jobs", "Unfinished jobs that the agent owns.");
  prometheus::Gauge& waiting =
      set.gauge("tarcil_agent_waiting_jobs", "Of them, those with tasks that wait for a slot.");
  prometheus::Gauge& arrivals =
      set.gauge("tarcil_agent_waiting_submissions", "Submissions that wait for the master to be in reach.");
  prometheus::Gauge& freeUnits =
      set.gauge("tarcil_agent_free_rus", "Free resource units of the cluster as the agent sees it.");

  // A submission was answered, a commit with a decision is sent.
  void count(const Status& answer);
  void count(const Explanation& decision);
  void count(const late::TaskOver& over);
  // Messages to monitors.
  void count(const late::SchedulerActions& actions);
  // The last `made` decisions took so long together.
  void countDecisions(uint64_t made, Duration together);

  // Sets what is looked up when somebody asks.
  void show(const AgentLogic::Load& load, bool isAttached, Duration age);

 private:
  uint64_t untilGuarantee_ = 1;
};

}  // namespace tarcil
