#include "master/server/master_metrics.h"

#include <limits>

#include "env/loop_step.h"

namespace tarcil {
namespace {

constexpr size_t kStates = static_cast<size_t>(RunState::kLost) + 1;
constexpr size_t kVerdicts = static_cast<size_t>(Verdict::kNoDisk) + 1;

void set(const std::vector<prometheus::Gauge*>& gauges, std::initializer_list<uint64_t> values) {
  size_t i = 0;
  for (uint64_t value : values) gauges[i++]->Set(static_cast<double>(value));
}

}  // namespace

std::vector<std::string_view> MasterMetrics::states() {
  std::vector<std::string_view> names;
  for (size_t state = 0; state < kStates; ++state) names.push_back(name(static_cast<RunState>(state)));
  return names;
}

std::vector<std::string_view> MasterMetrics::verdicts() {
  std::vector<std::string_view> names;
  for (size_t verdict = 0; verdict < kVerdicts; ++verdict)
    names.push_back(name(static_cast<Verdict>(verdict)));
  return names;
}

std::vector<std::string_view> MasterMetrics::refusals() {
  std::vector<std::string_view> names = verdicts();
  names.erase(names.begin());
  return names;
}

std::vector<std::string_view> MasterMetrics::causes() {
  std::vector<std::string_view> names;
  for (size_t kind = 0; kind < kCauseKinds; ++kind) names.push_back(name(static_cast<Cause::Kind>(kind)));
  return names;
}

std::vector<std::string_view> MasterMetrics::resources() {
  return {kResourceNames.begin(), kResourceNames.end()};
}

void MasterMetrics::count(const CommitAnswer& answer) {
  commits.at(static_cast<size_t>(answer.outcome))->Increment();
  bool isConflict = false;
  for (const Grant& grant : answer.grants) {
    const auto verdict = static_cast<size_t>(grant.verdict);
    claims.at(verdict)->Increment();
    // That a gang's other claims go with the refused one says nothing.
    if (isConflict || grant.verdict == Verdict::kGranted || grant.verdict == Verdict::kNotAll) continue;
    isConflict = true;
    conflicts.at(verdict - 1)->Increment();
  }
}

void MasterMetrics::count(const WrittenBatch& batch) {
  batchSize.Observe(static_cast<double>(batch.records));
  sync.Observe(seconds(batch.sync));
  outputWait.Observe(seconds(batch.held));
}

void MasterMetrics::show(const MasterLogic::Load& load, const PublishedState::Counts& state, uint64_t bytes,
                         const std::map<std::string, Feed>& feeds) {
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i]->Set(static_cast<double>(load.jobs[i]));
  waiting.Set(static_cast<double>(load.waiting));
  agents.Set(static_cast<double>(load.agents));
  monitors.Set(static_cast<double>(load.monitors));
  quarantined.Set(static_cast<double>(load.quarantined));
  reserved.Set(static_cast<double>(load.reservedServers));
  raiseTo(preempted, load.preempted);
  degraded.Set(static_cast<double>(load.isDegraded));
  autoCordoned.Set(static_cast<double>(load.autoCordoned));
  const std::array steps = {load.adjusted.autoCordoned, load.adjusted.throttled, load.adjusted.grown,
                            load.adjusted.moved};
  for (size_t i = 0; i < steps.size(); ++i) raiseTo(*adjusted[i], steps[i]);
  for (size_t i = 0; i < kCauseKinds; ++i) raiseTo(*violationsBegun[i], load.violations[i]);
  longestStep.Set(seconds(tarcil::longestStep().took));
  diskFree.Set(static_cast<double>(load.freeBytes));
  storeBytes.Set(static_cast<double>(bytes));
  tarcil::set(units, {state.heldUnits, state.freeUnits, state.idleUnits});
  tarcil::set(servers, {state.up, state.cordoned, state.down});
  std::map<std::string, double> behindNow, pendingNow;
  for (const auto& [agent, feed] : feeds) {
    behindNow[agent] = seconds(feed.behind);
    pendingNow[agent] = static_cast<double>(feed.pending);
  }
  behind.set(behindNow);
  pending.set(pendingNow);
}

void MasterMetrics::show(const ClusterSurvey& found, Duration took) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const ClusterSurvey::OfTasks& tasks = found.tasks();
  tarcil::set(violations, {found.lasting(), found.ended()});
  tarcil::set(runningTasks, {tasks.atTarget, tasks.predictedBelow, tasks.measuredBelow});
  const auto mean = [&tasks](double sum) {
    return tasks.all() == 0 ? kNone : sum / static_cast<double>(tasks.all());
  };
  satisfaction[0]->Set(mean(tasks.promised));
  satisfaction[1]->Set(mean(tasks.now));
  for (size_t i = 0; i < kResources; ++i) {
    const ClusterSurvey::OfResource& resource = found.resources()[i];
    contention[i]->Set(resource.contention);
    slack[i]->Set(resource.slack ? static_cast<double>(*resource.slack) : kNone);
    overloaded[i]->Set(static_cast<double>(resource.overloaded));
  }
  tarcil::set(sharing, {found.unitsUsed(), found.unitsAlone()});
  unlisted.Set(static_cast<double>(found.unlisted()));
  survey.Set(seconds(took));
}

}  // namespace tarcil
