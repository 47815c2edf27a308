#include "sim/scenario_check.h"

#include <algorithm>
#include <utility>

#include "core/model/job.h"
#include "core/state/usage.h"

namespace tarcil::sim {
namespace {

constexpr uint32_t kMaxServers = 100'000;
constexpr uint64_t kMaxUnits = 1'000'000;
constexpr uint32_t kMaxUnitsOfServer = 4'096;
constexpr uint64_t kMaxTasksOfAll = 50'000'000;

class Check {
 public:
  void that(bool holds, const std::string& problem) {
    if (!holds) found_.push_back(problem);
  }
  template <typename Number>
  void range(const char* field, Number value, Number least, Number most) {
    std::string text = std::string(field) + ": is " + shown(value) + "; write a number from " + shown(least);
    that(value >= least && value <= most, text + " to " + shown(most));
  }
  std::vector<std::string> found() { return std::move(found_); }

 private:
  template <typename Number>
  static std::string shown(Number value) {
    std::string text = std::to_string(value);
    if (std::is_floating_point_v<Number>) {
      while (text.ends_with('0')) text.pop_back();
      if (text.ends_with('.')) text.pop_back();
    }
    return text;
  }

  std::vector<std::string> found_;
};

void checkStreams(const Scenario& scenario, Check& check) {
  check.range<size_t>("streams", scenario.streams.size(), 1, 256);
  check.that(scenario.span.count() > 0, "span: is not above 0; write a duration such as 60s");
  double tasks = 0;
  for (const Stream& stream : scenario.streams) {
    check.range("streams.load", stream.load, 0.0001, 10.0);
    check.range<uint32_t>("streams.tasks", stream.tasks, 1, kMaxTasksOfAll);
    check.range<uint32_t>("streams.shares", stream.shares, 1, kMaxShares);
    check.range<uint32_t>("streams.priority", stream.priority, 0, 100);
    check.that(stream.mean.count() > 0, "streams.mean: is not above 0; write a duration such as 100ms");
    const Duration until = std::min(stream.until.value_or(scenario.span), scenario.span);
    check.that(stream.from < until, "streams.from: is not before until and span; write an earlier time");
    tasks += stream.load * static_cast<double>(scenario.units()) *
             static_cast<double>((until - stream.from).count()) / static_cast<double>(stream.mean.count());
  }
  check.that(tasks >= 1 && tasks <= static_cast<double>(kMaxTasksOfAll),
             "span: gives " + std::to_string(static_cast<int64_t>(tasks)) +
                 " tasks; write one that gives 1 to " + std::to_string(kMaxTasksOfAll));
}

bool bindsLate(const Scenario& scenario) {
  return std::any_of(scenario.policies.begin(), scenario.policies.end(), [](PolicyName policy) {
    return name(policy).starts_with(name(PolicyName::kLateBinding));
  });
}

// Whether agents decide, as in a cluster: such jobs are checked as there.
bool agentsDecide(PolicyName policy) {
  switch (policy) {
    case PolicyName::kQuality:
    case PolicyName::kGreedy:
    case PolicyName::kAgentBatch:
    case PolicyName::kAgentPerTask:
    case PolicyName::kAgentRandom:
      return true;
    default:
      return false;
  }
}

uint32_t mostTasksOfJob(const Scenario& scenario) {
  uint32_t most = 0;
  if (scenario.workload == WorkloadKind::kAlike) most = scenario.tasks;
  for (const Stream& stream : scenario.streams) most = std::max(most, stream.tasks);
  if (scenario.trace) {
    for (const TraceJob& job : scenario.trace->jobs) most = std::max(most, job.tasks);
  }
  return most;
}

void checkTasksOfJob(const Scenario& scenario, Check& check) {
  const uint32_t most = mostTasksOfJob(scenario);
  for (const PolicyName policy : scenario.policies) {
    if (!agentsDecide(policy)) continue;
    check.that(most <= tarcil::kMaxTasks,
               "policies: a cluster takes at most " + std::to_string(tarcil::kMaxTasks) +
                   " tasks in one job, and there is one of " + std::to_string(most) + "; leave " +
                   std::string(name(policy)) + " out, or write smaller jobs");
  }
}

}  // namespace

std::vector<std::string> problems(const Scenario& scenario) {
  Check check;
  check.that(!scenario.platforms.empty(), "platforms: has none; write at least one");
  uint64_t servers = 0;
  for (const PlatformSize& platform : scenario.platforms) {
    check.range("platforms.rus", platform.units, 1U, kMaxUnitsOfServer);
    check.range("platforms.servers", platform.servers, 1U, kMaxServers);
    servers += platform.servers;
  }
  check.range<uint64_t>("servers", servers, 1, kMaxServers);
  check.range<uint64_t>("resource units", scenario.units(), 1, kMaxUnits);
  check.range("residents.part", scenario.residents.part, 0.0, 0.9);
  check.range("residents.rus", scenario.residents.rus, 1U, kMaxUnitsOfServer);
  if (scenario.workload == WorkloadKind::kStreams) checkStreams(scenario, check);
  check.range<uint32_t>("jobs", scenario.jobs, scenario.replay ? 0 : 1, 10'000'000);
  check.range<uint32_t>("tasks", scenario.tasks, 1, kMaxTasksOfAll);
  if (scenario.workload == WorkloadKind::kAlike) {
    check.range<uint64_t>("jobs times tasks", uint64_t{scenario.jobs} * scenario.tasks, 1, kMaxTasksOfAll);
  }
  if (scenario.workload == WorkloadKind::kHeavyTailed) {
    check.range<uint64_t>("jobs", scenario.jobs, 1, kMaxTasksOfAll / kMaxHeavyTailedTasks);
  }
  if (scenario.trace) {
    uint64_t tasks = 0;
    for (const TraceJob& job : scenario.trace->jobs) tasks += job.tasks;
    check.range<uint64_t>("tasks of all jobs of the trace", tasks, 1, kMaxTasksOfAll);
    const bool isWide = std::any_of(scenario.trace->jobs.begin(), scenario.trace->jobs.end(),
                                    [](const TraceJob& job) { return job.rus > 1; });
    check.that(
        !isWide || !bindsLate(scenario),
        "policies: late-binding places tasks of one unit, and the trace has larger ones; leave it out");
  }
  if (scenario.replay) {
    const Workload& workload = scenario.replay->workload;
    check.that(!workload.jobs.empty(), "recording: has no job that ran; record for longer");
    check.range<uint64_t>("tasks of all jobs of the recording", workload.work.size(), 0, kMaxTasksOfAll);
    const bool isWide = std::any_of(workload.jobs.begin(), workload.jobs.end(),
                                    [](const SimJob& job) { return job.rus > 1; });
    check.that(
        !isWide || !bindsLate(scenario),
        "policies: late-binding places tasks of one unit, and the recording has larger ones; leave it out");
  }
  if (scenario.truth == TruthKind::kMeasured) {
    check.that(scenario.platforms.size() == 1,
               "platforms: co-runs were measured on one platform; write one, or truth.kind: parametric");
  }
  check.that(scenario.mean.count() > 0, "mean: is not above 0; write a duration such as 100ms");
  check.that(scenario.gap.count() > 0, "gap: is not above 0; write a duration such as 1s");
  if (scenario.load) check.range("load", *scenario.load, 0.001, 10.0);
  check.range("warm_up", scenario.warmUp, 0.0, 0.99);
  check.range<uint32_t>("applications", scenario.applications, 1, 10'000);
  check.range("heterogeneity", scenario.heterogeneity, 0.0, 0.9);
  check.range("pressure", scenario.mostPressure, 0.001, 10.0);
  check.range("phases", scenario.phases, 1U, 10U);
  check.range("phase_change", scenario.phaseChange, 0.0, 1.0);
  check.range("noise", scenario.noise, 0.0, 0.9);
  check.that(uint64_t{scenario.applications} * scenario.phases <= 60'000,
             "phases: times applications is above 60000; write less of either");
  check.range("classification_error", scenario.classificationError, 0.0, 1.0);
  check.range("probes", scenario.probes, 1U, 10U);
  if (scenario.profiles == ProfileSource::kClassified) {
    check.that(scenario.truth == TruthKind::kParametric || scenario.truth == TruthKind::kMeasured,
               "profiles: there is nothing to classify without a truth that is probed; write truth.kind: "
               "parametric or "
               "measured");
    check.that(
        scenario.classificationError == 0,
        "classification_error: stands beside profiles: classified, which err by themselves; write 0, or "
        "profiles: truth");
    check.range<uint32_t>("applications of profiles: classified", scenario.applications, 4, 1'000);
  }
  check.that(!scenario.policies.empty(), "policies: has none; write at least one");
  checkTasksOfJob(scenario, check);
  check.that(!scenario.seeds.empty(), "seeds: has none; write at least one");
  check.range<uint32_t>("agents", scenario.agents, 1, 1'000);
  check.range<uint32_t>("buckets", scenario.buckets, 1, 256);
  check.range<uint32_t>("moments", scenario.moments, 0, 100'000);
  check.that(scenario.decision.count() >= 0, "decision: is below 0; write a duration such as 2us");
  check.that(scenario.dispatch.count() >= 0, "dispatch: is below 0; write a duration such as 667us");
  check.range("probe_ratio", scenario.probeRatio, 1.0, 100.0);
  check.range("patience", scenario.patience, 0.0, 1'000.0);
  check.that(scenario.roundTrip.count() >= 0, "rtt: is below 0; write a duration such as 1ms");
  std::vector<std::string> found = check.found();
  for (std::string& problem : problems(scenario.settings)) found.push_back(std::move(problem));
  return found;
}

}  // namespace tarcil::sim
