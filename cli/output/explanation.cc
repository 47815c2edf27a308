#include "cli/output/explanation.h"

#include <algorithm>

#include "cli/output/render.h"
#include "cli/output/violation.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

// For each task what placed it last; for one that waits, the last decision that left tasks without a place.
// Null where there is none.
std::vector<const DecisionRecord*> decisionsByTask(const Explained& all) {
  std::vector<const DecisionRecord*> byTask(all.job.tasks.size(), nullptr);
  const DecisionRecord* lastShort = nullptr;
  for (const DecisionRecord& decision : all.decisions) {
    if (decision.explanation.placed < decision.explanation.wanted) lastShort = &decision;
    for (TaskIndex task : decision.tasks) {
      if (task < byTask.size()) byTask[task] = &decision;
    }
  }
  for (const TaskRecord& task : all.job.tasks) {
    if (task.state == RunState::kQueued && task.index < byTask.size()) byTask[task.index] = lastShort;
  }
  return byTask;
}

Json jsonOf(const TaskRecord& task, const DecisionRecord* decision, const Explained& all) {
  Json entry = {{"task", task.index}, {"decision", decision ? Json(decision->number) : Json()}};
  entry.update(decision ? jsonOf(decision->explanation, all.job.record.spec.profile, all.servers)
                        : jsonOfNoDecision());
  const bool isPlaced = task.allocation != 0 && task.state != RunState::kQueued;
  entry.update(jsonOfCharge(all.job, task));
  entry["previous"] = task.previous.empty() ? Json() : Json(task.previous);
  entry["chosen"] = isPlaced ? jsonOfChosen(task.server, task.rus, task.q, task.s) : Json();
  return entry;
}

}  // namespace

Explained fetchExplained(Cluster& cluster, const JobId& id) {
  Explained all{cluster.wait(fetchJob(cluster.client(), id)), {}, {}};
  auto answer = cluster.ask([&id](Session& session) {
    auto request = session.user.decisionsRequest();
    request.setId(bytesOf(id));
    return request.send();
  });
  for (auto decision : answer.getDecisions()) all.decisions.push_back(read(decision));
  for (auto server : answer.getServers()) all.servers[server.getId()] = read(server);
  std::sort(all.decisions.begin(), all.decisions.end(),
            [](const DecisionRecord& a, const DecisionRecord& b) { return a.number < b.number; });
  return all;
}

Json jsonOf(const Explained& all) {
  Json entries = Json::array();
  const auto byTask = decisionsByTask(all);
  for (size_t i = 0; i < byTask.size(); ++i) entries.push_back(jsonOf(all.job.tasks[i], byTask[i], all));
  Json violations = Json::array(), steps = Json::array();
  for (const TaskViolation& violation : all.job.violations) violations.push_back(jsonOf(violation));
  for (const AdjustingStep& step : all.job.steps) steps.push_back(jsonOf(step));
  const std::string& reason = all.job.progress.reason;
  return {{"id", toString(all.job.record.id)},
          {"number", jsonNumber(all.job.record.number)},
          {"state", name(all.job.progress.state)},
          {"reason", reason.empty() ? Json() : Json(reason)},
          {"profile_assumed", all.job.record.spec.profile.isAssumed},
          {"profile_replaced", jsonTime(all.job.record.profileReplaced)},
          {"image", jsonOfImage(all.job)},
          {"declared", jsonByResource(all.job.record.spec.profile.caused)},
          {"decision", std::move(entries)},
          {"troubles", std::move(violations)},
          {"steps", std::move(steps)}};
}

}  // namespace tarcil
