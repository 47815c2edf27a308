#include "sim/faults/event_text.h"

namespace tarcil::sim {
namespace {

// " word", " 7", " [1 2 3]": what a line is made of.
std::string part(const std::string& word) {
  return " " + word;
}
std::string part(uint64_t number) {
  return " " + std::to_string(number);
}
std::string part(const JobId& job) {
  return " " + toString(job).substr(0, 8);
}

std::string part(const TaskEnd& end) {
  return " cause " + std::to_string(static_cast<int>(end.cause)) + " code " + std::to_string(end.exitCode) +
         " signal " + std::to_string(end.signal);
}

template <typename Values, typename ToText>
std::string list(const Values& values, ToText toText) {
  std::string text = " [";
  for (const auto& value : values) text += (text.size() > 2 ? "," : "") + toText(value);
  return text + " ]";
}

template <typename Number>
std::string list(const std::vector<Number>& numbers) {
  return list(numbers, [](Number number) { return part(number); });
}

std::string reports(const std::vector<TaskReport>& reports) {
  return list(reports, [](const TaskReport& report) {
    return part(report.allocation) + (report.ended ? " ended" + part(report.end) : " started");
  });
}

std::string servers(const std::vector<ServerUpdate>& updates) {
  return list(updates, [](const ServerUpdate& update) {
    return part(update.id) + " version" + part(update.status.version) + " free" +
           part(update.status.free.size()) + (update.status.up ? "" : " down");
  });
}

std::string assignment(const JobAssignment& job) {
  return part(job.job.id) + (job.over ? " over" : "") + (job.complete ? " complete" : "") +
         list(job.tasks,
              [](const TaskAssignment& task) {
                return part(task.index) + " attempt" + part(task.attempt) +
                       part(std::string(name(task.state))) + part(task.allocation);
              }) +
         list(job.waiting,
              [](const TaskRange& range) { return part(range.first) + " to" + part(range.last); });
}

struct MasterText {
  std::string operator()(const master::AgentAttached& event) const {
    return "AgentAttached" + part(event.session) + part(event.agent) + " epoch" + part(event.epoch);
  }
  std::string operator()(const master::MonitorAttached& event) const {
    return "MonitorAttached" + part(event.session) + part(event.monitor) +
           list(event.tasks, [](const KnownTask& task) { return part(task.allocation) + part(task.server); });
  }
  std::string operator()(const master::MoreServersAttached& event) const {
    return "MoreServersAttached" + part(event.session) +
           list(event.tasks, [](const KnownTask& task) { return part(task.allocation) + part(task.server); });
  }
  std::string operator()(const master::PeerDetached& event) const {
    return "PeerDetached" + part(event.session);
  }
  std::string operator()(const master::CommitArrived& event) const {
    const Commit& commit = event.commit;
    return "CommitArrived" + part(event.session) + " sequence" + part(commit.sequence) + part(commit.job) +
           (commit.newJob ? " new" : "") + list(commit.claims, [](const Claim& claim) {
             return part(claim.task) + " on" + part(claim.server) + list(claim.preferred);
           });
  }
  std::string operator()(const master::PieceArrived& event) const {
    return "PieceArrived" + part(event.session) + part(event.job) + part(event.number);
  }
  std::string operator()(const master::ReportsArrived& event) const {
    return "ReportsArrived" + part(event.session) + reports(event.reports);
  }
  std::string operator()(const master::CancelRequested& event) const {
    return "CancelRequested" + part(event.job);
  }
  std::string operator()(const master::SettingsSet&) const { return "SettingsSet"; }
  std::string operator()(const master::ProfileStored& event) const {
    return "ProfileStored" + part(event.profile.application);
  }
  std::string operator()(const master::ProfileDeleted& event) const {
    return "ProfileDeleted" + part(event.application);
  }
  std::string operator()(const master::ProfilePromoted& event) const {
    return "ProfilePromoted" + part(event.application) + part(event.user);
  }
  std::string operator()(const master::SharesSet& event) const { return "SharesSet " + event.user; }
  std::string operator()(const master::PlatformSet& event) const {
    return "PlatformSet" + part(event.platform);
  }
  std::string operator()(const master::ServersSteered& event) const {
    std::string text = "ServersSteered" + part(static_cast<int>(event.change));
    for (const std::string& server : event.servers) text += part(server);
    return text;
  }
  std::string operator()(const master::PressureReported& event) const {
    return "PressureReported" + part(event.session) + list(event.servers, [](const ServerPressure& it) {
             return part(it.server) + list(it.background, [](int value) { return part(value); }) +
                    list(it.absent, [](const AbsentPressure& absent) { return part(absent.reason); });
           });
  }
  std::string operator()(const master::ViolationsReported& event) const {
    std::string text = "ViolationsReported" + part(event.session);
    for (const Violation& violation : event.violations) {
      text += part(violation.allocation) + (violation.over ? " over" : "");
    }
    return text;
  }
  std::string operator()(const master::PerformanceReported& event) const {
    return "PerformanceReported" + part(event.session) +
           list(event.samples, [](const PerformanceSample& it) { return part(it.allocation); });
  }
  std::string operator()(const master::TaskResized& event) const {
    return "TaskResized" + part(event.session) + part(event.allocation) + list(event.rus) +
           (event.status.ok() ? "" : " refused");
  }
  std::string operator()(const master::TaskThrottled& event) const {
    return "TaskThrottled" + part(event.session) + part(event.allocation) +
           (event.status.ok() ? "" : " refused");
  }
  std::string operator()(const master::MonitorLeaves& event) const {
    return "MonitorLeaves" + part(event.session);
  }
  std::string operator()(const master::PoolReported& event) const {
    return "PoolReported" + part(event.session) + part(event.reports.size());
  }
  std::string operator()(const master::JobSteered& event) const { return "JobSteered" + part(event.job); }
  std::string operator()(const master::CronAdded& event) const { return "CronAdded " + event.cron.name; }
  std::string operator()(const master::CronSteered& event) const {
    return "CronSteered " + event.name + part(static_cast<int>(event.change));
  }
  std::string operator()(const master::MembersChanged& event) const {
    return "MembersChanged" + part(event.change.index());
  }
  std::string operator()(const master::SecretsChanged& event) const {
    return "SecretsChanged" + part(event.change.index());
  }
  std::string operator()(const master::SecretsAsked& event) const {
    return "SecretsAsked" + part(event.allocation);
  }
  std::string operator()(const master::PeopleChanged& event) const {
    return "PeopleChanged" + part(event.change.index());
  }
  std::string operator()(const master::Noted& event) const { return "Noted " + event.entry.action; }
  std::string operator()(const master::SpaceMeasured& event) const {
    return "SpaceMeasured" + part(event.freeBytes);
  }
  std::string operator()(const master::LeaseAsked& event) const {
    return "LeaseAsked" + part(event.request) + part(event.session) + list(event.starting);
  }
  std::string operator()(const master::NumbersAsked& event) const {
    return "NumbersAsked" + part(event.session) + part(event.count);
  }
  std::string operator()(const master::MoreJobsAsked& event) const {
    return "MoreJobsAsked" + part(event.session);
  }
  std::string operator()(const master::OffersDeclined& event) const {
    const auto id = [](const JobId& job) { return part(job); };
    return "TurnsPassed" + part(event.session) + list(event.jobs, id) + list(event.untried, id);
  }
  std::string operator()(const master::TimerFired&) const { return "TimerFired"; }
};

struct AgentText {
  std::string operator()(const agent::MasterAttached& event) const {
    return "MasterAttached epoch" + part(event.epoch) + list(event.jobs, assignment);
  }
  std::string operator()(const agent::JobsTold& event) const {
    return "JobsTold" + list(event.jobs, assignment);
  }
  std::string operator()(const agent::MasterLost&) const { return "MasterLost"; }
  std::string operator()(const agent::ServersUpdated& event) const {
    return "ServersUpdated" + servers(event.updates);
  }
  std::string operator()(const agent::SnapshotComplete&) const { return "SnapshotComplete"; }
  std::string operator()(const agent::ChecksumTold& event) const {
    return "ChecksumTold" + part(event.checksum.statuses) + part(event.checksum.facts);
  }
  std::string operator()(const agent::SettingsUpdated& event) const {
    return "SettingsUpdated" + part(event.settings.version);
  }
  std::string operator()(const agent::PlatformUpdated& event) const {
    return "PlatformUpdated" + part(event.platform);
  }
  std::string operator()(const agent::JobsOffered& event) const {
    return "TurnsGiven" + list(event.jobs, [](const JobId& job) { return part(job); });
  }
  std::string operator()(const agent::QueueTold& event) const {
    return "QueueTold" + (event.pendingPriority ? part(uint64_t{*event.pendingPriority}) : " none") +
           part(event.capacityVersion) + (event.crowded ? " crowded" : "") +
           (event.waiting > 0 ? part(event.waiting) + " wait" : "");
  }
  std::string operator()(const agent::PieceAnswered& event) const {
    return "PieceAnswered" + part(event.upload) +
           (event.isThere.ok() ? (*event.isThere ? " is there" : "") : " " + event.isThere.error().message);
  }
  std::string operator()(const agent::SubmitArrived& event) const {
    return "SubmitArrived" + part(event.request) + part(event.job);
  }
  std::string operator()(const agent::CommitAnswered& event) const {
    const CommitAnswer& answer = event.answer;
    return "CommitAnswered" + part(answer.sequence) + " outcome" +
           part(static_cast<uint64_t>(answer.outcome)) + list(answer.grants, [](const Grant& grant) {
             return part(std::string(name(grant.verdict))) + part(grant.allocation) + list(grant.rus);
           });
  }
  std::string operator()(const agent::JobAssigned& event) const {
    return "JobAssigned" + assignment(event.assignment);
  }
  std::string operator()(const agent::LaunchAnswered& event) const {
    return "LaunchAnswered" + part(event.allocation) + " outcome" +
           part(static_cast<uint64_t>(event.outcome));
  }
  std::string operator()(const agent::TimerFired&) const { return "TimerFired"; }
};

struct MonitorText {
  std::string operator()(const monitor::MasterAttached& event) const {
    return "MasterAttached drop" + list(event.drop) + " stop" + list(event.stop);
  }
  std::string operator()(const monitor::MasterLost&) const { return "MasterLost"; }
  std::string operator()(const monitor::LaunchArrived& event) const {
    return "LaunchArrived" + part(event.spec.allocation) + part(event.spec.server) + list(event.spec.rus);
  }
  std::string operator()(const monitor::FilesArrived& event) const {
    return "FilesArrived" + part(event.allocation) + (event.files.ok() ? part(event.files->size()) : " none");
  }
  std::string operator()(const monitor::SecretsArrived& event) const {
    return "SecretsArrived" + part(event.allocation) +
           (event.secrets.ok() ? part(event.secrets->size()) : " none");
  }
  std::string operator()(const monitor::StopArrived& event) const {
    return "StopArrived" + part(event.allocation);
  }
  std::string operator()(const monitor::ResizeArrived& event) const {
    return "ResizeArrived" + part(event.allocation) + list(event.rus);
  }
  std::string operator()(const monitor::ThrottleArrived& event) const {
    return "ThrottleArrived" + part(event.allocation);
  }
  std::string operator()(const monitor::TaskResized& event) const {
    return "TaskResized" + part(event.allocation) + list(event.rus);
  }
  std::string operator()(const monitor::ImageFound& event) const {
    return "ImageFound" + part(event.allocation) + part(event.digest);
  }
  std::string operator()(const monitor::TaskStarted& event) const {
    return "TaskStarted" + part(event.allocation);
  }
  std::string operator()(const monitor::TaskEnded& event) const {
    return "TaskEnded" + part(event.allocation) + part(event.end);
  }
  std::string operator()(const monitor::LeaseRenewed& event) const {
    return "LeaseRenewed refused" + list(event.refused);
  }
  std::string operator()(const monitor::ReportsAcknowledged&) const { return "ReportsAcknowledged"; }
  std::string operator()(const monitor::ShutdownBegun&) const { return "ShutdownBegun"; }
  std::string operator()(const monitor::TimerFired&) const { return "TimerFired"; }
};

}  // namespace

std::string text(const master::Event& event) {
  return std::visit(MasterText(), event);
}
std::string text(const agent::Event& event) {
  return std::visit(AgentText(), event);
}
std::string text(const monitor::Event& event) {
  return std::visit(MonitorText(), event);
}

}  // namespace tarcil::sim
