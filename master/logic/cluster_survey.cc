#include "master/logic/cluster_survey.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/model/contention.h"
#include "core/model/quality.h"
#include "core/model/residents.h"
#include "core/model/sharing.h"
#include "master/logic/health/interference.h"
#include "master/logic/tables.h"

namespace tarcil {
namespace {

void lower(std::optional<int32_t>& least, std::optional<int32_t> slack) {
  if (slack && (!least || *slack < *least)) least = slack;
}

// S of the task where it is, by its profile.
double satisfactionNow(const master::Tables& tables, const master::Server& server, const Resident& resident,
                       const Profile& profile) {
  const Pressure interference = interferenceOn(resident, server, tables.settings.contention);
  return judge(viewOn(profile, server.share, 1), interference, tables.settings.model, 0).satisfaction;
}

void add(ClusterSurvey::OfApplication& sum, const ClusterSurvey::OfApplication& other) {
  sum.tasks += other.tasks;
  sum.degraded += other.degraded;
  for (size_t i = 0; i < kResources; ++i) {
    sum.declared[i] += other.declared[i];
    sum.measured[i] += other.measured[i];
    sum.measuredTasks[i] += other.measuredTasks[i];
  }
}

}  // namespace

bool ClusterSurvey::goOn(const master::Tables& tables, size_t atMost) {
  if (!areCounted_) {
    countServers(tables, atMost);
    return false;
  }
  for (size_t seen = 0; seen < atMost && next_ < tables.servers.size(); ++next_) {
    const master::Server& server = tables.servers.at(next_);
    seen += 1 + (server.record.removed ? 0 : lookAt(tables, server));
  }
  if (next_ < tables.servers.size()) return false;
  conclude();
  return true;
}

void ClusterSurvey::countServers(const master::Tables& tables, size_t atMost) {
  for (size_t seen = 0; seen < atMost && next_ < tables.servers.size(); ++next_, ++seen) {
    const ServerRecord& record = tables.servers.at(next_).record;
    if (!record.removed) units_.push_back(record.facts.rus);
  }
  if (next_ < tables.servers.size()) return;
  areCounted_ = true;
  next_ = 0;
  if (units_.size() > limits_.servers) unlisted_ = units_.size();
  usualUnits_ = std::max<uint32_t>(1, usualUnits(std::move(units_)));
}

size_t ClusterSurvey::lookAt(const master::Tables& tables, const master::Server& server) {
  const ServerStatus& status = server.status;
  const Pressure contended = contention(tables.settings.contention, status.sum, server.share,
                                        status.background, static_cast<int>(server.record.facts.rus));
  const PressureSum slacks = slackOf(status.bound, status.sum, server.share, status.background);
  ListedServer listed{.name = {}, .contention = *std::ranges::max_element(contended)};
  for (size_t i = 0; i < kResources; ++i) {
    const std::optional<int32_t> slack = boundedSlack(slacks[i]);
    lower(listed.slack, slack);
    lower(resources_[i].slack, slack);
    resources_[i].contention = std::max(resources_[i].contention, contended[i]);
    if (slack && *slack < 0) ++resources_[i].overloaded;
  }
  if (unlisted_ == 0 && servers_.size() < limits_.servers) {
    listed.name = server.record.facts.name;
    servers_.push_back(std::move(listed));
  }
  lookAtTasks(tables, server);
  return server.residents.size();
}

void ClusterSurvey::lookAtTasks(const master::Tables& tables, const master::Server& server) {
  for (const Resident& resident : server.residents) {
    const master::Hold& hold = *tables.jobs.holder(resident.allocation);
    const master::Job& job = *hold.job;
    const JobSpec& spec = job.record.spec;
    const master::DegradedTask* degraded = tables.violations.find(resident.allocation);
    const bool isDegraded = degraded != nullptr && degraded->violation.has_value();
    if (degraded != nullptr) ++(isDegraded ? lasting_ : ended_);

    OfApplication& application = entryOf(spec.profile.application);
    ++application.tasks;
    application.degraded += isDegraded ? 1 : 0;
    for (size_t i = 0; i < kResources; ++i) {
      application.declared[i] += spec.profile.caused[i];
      if (!resident.measured[i]) continue;
      application.measured[i] += resident.caused[i];
      ++application.measuredTasks[i];
    }

    const RunningTasks active{.tasks = job.active(), .rusPerTask = spec.rusPerTask};
    unitsUsed_ += spec.rusPerTask;
    unitsAlone_ += static_cast<double>(tarcil::unitsAlone(active, usualUnits_)) / std::max(1u, active.tasks);

    const TaskRecord& task = job.tasks[hold.task];
    if (task.state != RunState::kRunning) continue;
    const double predicted = satisfactionNow(tables, server, resident, spec.profile);
    tasks_.promised += task.s;
    tasks_.now += isDegraded ? std::min(predicted, partOfExpected(*degraded->violation)) : predicted;
    if (isDegraded) {
      ++tasks_.measuredBelow;
    } else if (predicted < spec.target.value_or(tables.settings.target)) {
      ++tasks_.predictedBelow;
    } else {
      ++tasks_.atTarget;
    }
  }
}

ClusterSurvey::OfApplication& ClusterSurvey::entryOf(const std::string& application) {
  const auto found = met_.find(application);
  if (found != met_.end()) return found->second;
  return met_[met_.size() < limits_.candidates ? application : ""];
}

void ClusterSurvey::conclude() {
  OfApplication others = std::move(met_[""]);
  met_.erase("");
  for (auto& [name, application] : met_) {
    application.name = name;
    applications_.push_back(std::move(application));
  }
  met_.clear();
  std::ranges::stable_sort(applications_, std::ranges::greater{}, &OfApplication::tasks);
  size_t named = 0;
  for (OfApplication& application : applications_) {
    if (named == limits_.applications || !named_->admit(application.name)) {
      add(others, application);
    } else {
      std::swap(applications_[named++], application);
    }
  }
  applications_.resize(named);
  applications_.push_back(std::move(others));
}

uint64_t ClusterSurvey::unitsAlone() const {
  return static_cast<uint64_t>(std::llround(unitsAlone_));
}

}  // namespace tarcil
