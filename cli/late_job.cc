#include "cli/late_job.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "cli/late_agents.h"
#include "cli/late_watcher.h"
#include "cli/output/output.h"
#include "cli/output/progress_line.h"
#include "cli/output/server_details.h"
#include "cli/output/table.h"
#include "client/late/late_client.h"
#include "core/base/failure.h"
#include "core/model/constraint.h"
#include "env/clock.h"
#include "rpc/errors.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

constexpr size_t kMaxLateTasksShown = 50;

// Servers that the master is asked for to say why tasks wait, one after the other.
constexpr size_t kMaxServersAsked = 16;

LateClientJob clientJobOf(const JobId& id, JobFile job, bool detached) {
  LateClientJob made;
  made.id = id;
  made.spec = std::move(job.spec);
  made.probeRatio = job.probeRatio;
  made.executor = std::move(job.executor);
  made.detached = detached;
  return made;
}

// On the terminal, a line. Never done: to be dropped.
kj::Promise<void> showProgress(kj::Timer& timer, const LateJobWatcher& watcher, ProgressLine& line) {
  constexpr kj::Duration kPeriod = 500 * kj::MILLISECONDS;
  return timer.afterDelay(kPeriod).then([&timer, &watcher, &line]() {
    const auto& tasks = watcher.status().tasks;
    const auto over =
        std::ranges::count_if(tasks, [](const LateTaskStatus& task) { return isFinal(task.state); });
    line.show(std::to_string(over) + " of " + counted(tasks.size(), "task") + " over");
    return showProgress(timer, watcher, line);
  });
}

kj::Promise<void> untilOver(Cluster& cluster, LateJobWatcher& watcher, ProgressLine& line) {
  if (!ProgressLine::isPossible()) return watcher.over();
  return watcher.over().exclusiveJoin(showProgress(cluster.timer(), watcher, line));
}

// What became of it until all of its tasks were over, or an agent had it, where it goes on on its own.
LateJobStatus handOver(Cluster& cluster, const JobId& id, JobFile job, bool detached) {
  requireCluster(cluster);
  LateJobWatcher watcher(id, job.spec);
  LateClient client(cluster.net(), systemClock(), cluster.agents(), cluster.token(), {}, watcher);
  client.submit(clientJobOf(id, std::move(job), detached));
  ProgressLine line;
  cluster.wait(detached ? client.handedOver().exclusiveJoin(watcher.over())
                        : untilOver(cluster, watcher, line));
  if (!watcher.status().problem.empty()) throw Failure(kExitFailed, watcher.status().problem);
  return watcher.status();
}

// To an end, be it that it was made to end.
bool hasRun(const LateTaskStatus& task) {
  return task.state == RunState::kDone || task.state == RunState::kFailed || task.code != 0;
}

std::string resultOf(const LateTaskStatus& task) {
  if (task.state == RunState::kLost) return "lost: it may have run";
  if (!hasRun(task)) return "";
  if (task.code > kExitSignal) return "signal " + std::to_string(task.code - kExitSignal);
  return "exit " + std::to_string(task.code);
}

// Servers that jobs require by name, as the master knows them.
class RequiredServers {
 public:
  explicit RequiredServers(Cluster& cluster) : cluster_(cluster) {}

  // Of the constraints the one that lists servers of which none is up; nullptr where there is none, and where
  // that would take too many questions.
  const Constraint* downOf(const std::vector<Constraint>& constraints) {
    const Constraint* const list = listIn(constraints);
    if (list == nullptr || list->attribute != kServerAttribute) return nullptr;
    for (const std::string& server : list->values) {
      if (mayBeUp(server)) return nullptr;
    }
    return list;
  }

 private:
  // Whether it is up, or nothing is known of it.
  bool mayBeUp(const std::string& server) {
    if (const auto known = up_.find(server); known != up_.end()) return known->second;
    if (up_.size() >= kMaxServersAsked) return true;
    return up_[server] = isUpNow(server);
  }

  bool isUpNow(const std::string& server) {
    try {
      return cluster_.wait(fetchServer(cluster_.client(), server)).status.up;
    } catch (const kj::Exception& exception) {
      return fromException(exception).code != ErrorCode::kNotFound;
    }
  }

  Cluster& cluster_;
  std::map<std::string, bool> up_;
};

std::string reasonOf(const LateJobStatus& job) {
  if (!job.problem.empty()) return job.problem;
  if (!job.waits.empty()) return job.waits;
  const RunState state = stateOf(job);
  if (state != RunState::kFailed && state != RunState::kLost) return "";
  const auto isSo = [state](const LateTaskStatus& task) { return task.state == state; };
  const auto first = std::find_if(job.tasks.begin(), job.tasks.end(), isSo);
  return std::to_string(std::count_if(job.tasks.begin(), job.tasks.end(), isSo)) + " of " +
         std::to_string(job.tasks.size()) + " tasks " +
         (state == RunState::kFailed ? "failed" : "were lost") + "; first: task " +
         std::to_string(first - job.tasks.begin()) + ", " + resultOf(*first);
}

std::string countsOf(const LateJobStatus& job) {
  std::map<RunState, size_t> counts;
  for (const LateTaskStatus& task : job.tasks) ++counts[task.state];
  std::string text;
  for (const auto& [state, count] : counts) {
    text.append(text.empty() ? "" : ", ").append(std::to_string(count) + " ").append(name(state));
  }
  return text;
}

double milliseconds(Duration duration) {
  return static_cast<double>(duration.count()) / 1000;
}

Json jsonOf(const late::Phases& phases) {
  return {{"reserve", milliseconds(phases.reserve)},
          {"queue", milliseconds(phases.queue)},
          {"get_task", milliseconds(phases.getTask)},
          {"service", milliseconds(phases.service)}};
}

Json jsonOf(const LateTaskStatus& task, size_t index) {
  const bool ran = hasRun(task), hasSignal = ran && task.code > kExitSignal;
  return {{"index", index},
          {"state", name(task.state)},
          {"server", task.server.empty() ? Json() : Json(task.server)},
          {"rus", Json::array()},
          {"q", Json()},
          {"s", Json()},
          {"exit_code", ran && !hasSignal ? Json(task.code) : Json()},
          {"signal", hasSignal ? Json(task.code - kExitSignal) : Json()},
          {"oom_killed", false},
          {"attempt", task.attempts == 0 ? 0 : task.attempts - 1},
          {"phases_ms", ran ? jsonOf(task.phases) : Json()}};
}

using Phase = std::pair<const char*, Duration late::Phases::*>;
constexpr Phase kPhases[] = {{"reserve", &late::Phases::reserve},
                             {"queue", &late::Phases::queue},
                             {"get_task", &late::Phases::getTask},
                             {"service", &late::Phases::service}};

// Of the tasks that ran, ascending.
std::vector<double> timesOf(const LateJobStatus& job, Duration late::Phases::*phase) {
  std::vector<double> times;
  for (const LateTaskStatus& task : job.tasks) {
    if (hasRun(task)) times.push_back(milliseconds(task.phases.*phase));
  }
  std::sort(times.begin(), times.end());
  return times;
}

double quantile(const std::vector<double>& ascending, double q) {
  return ascending[static_cast<size_t>(std::lround(q * static_cast<double>(ascending.size() - 1)))];
}

}  // namespace

LateJobStatus newLateJob(const JobId& id, const JobSpec& spec) {
  LateJobStatus status;
  status.id = id;
  status.spec = spec;
  status.submitted = systemClock().now().wall;
  status.tasks.resize(spec.tasks);
  return status;
}

RunState stateFrom(late::Outcome outcome, int32_t code) {
  switch (outcome) {
    case late::Outcome::kDone:
      return code == 0 ? RunState::kDone : RunState::kFailed;
    case late::Outcome::kLost:
      return RunState::kLost;
    case late::Outcome::kCancelled:
      return RunState::kCancelled;
  }
  return RunState::kLost;
}

void requireCluster(Cluster& cluster) {
  cluster.ask([](Session& session) { return session.agent.userRequest().send(); });
}

LateJobStatus runLateJob(Cluster& cluster, const JobId& id, JobFile job) {
  LateJobStatus status = handOver(cluster, id, std::move(job), false);
  status.finished = systemClock().now().wall;
  status.number = cluster.numberOf(id);
  return status;
}

void leaveLateJob(Cluster& cluster, const JobId& id, JobFile job) {
  handOver(cluster, id, std::move(job), true);
}

LateJobStatus readLateJob(wire::LateJobDetails::Reader from) {
  LateJobStatus status = newLateJob(readJobId(from.getId()), read(from.getSpec()));
  status.number = from.getNumber();
  status.user = convert::text(from.getUser());
  status.submitted = wallTime(from.getSubmitted());
  status.finished = wallTime(from.getFinished());
  addOver(from, status);
  return status;
}

void addOver(wire::LateJobDetails::Reader from, LateJobStatus& status) {
  for (auto task : from.getOver()) {
    if (task.getTask() >= status.tasks.size()) continue;
    const auto outcome = convert::fromWireEnum<late::Outcome>(task.getOutcome(), 3, "outcome");
    const auto phases = task.getPhases();
    status.tasks[task.getTask()] = {stateFrom(outcome, task.getCode()),
                                    task.getCode(),
                                    convert::text(task.getServer()),
                                    task.getAttempts(),
                                    {Duration(phases.getReserve()), Duration(phases.getQueue()),
                                     Duration(phases.getGetTask()), Duration(phases.getService())}};
  }
}

LateJobStatus requireLateJob(Cluster& cluster, const JobId& id) {
  LateAgents agents(cluster);
  if (auto found = agents.find(id)) return std::move(*found);
  throw agents.unknown(id);
}

void addWhyItWaits(Cluster& cluster, LateJobStatus& job) {
  RequiredServers servers(cluster);
  const auto noneIsUp = [](const std::string& who, const Constraint& list) {
    return who + " " + describe(list) + ": none of these servers is up";
  };
  for (size_t task = 0; task < job.tasks.size(); ++task) {
    if (job.tasks[task].state != RunState::kQueued) continue;
    if (const Constraint* list = servers.downOf(job.spec.placement.constraints)) {
      job.waits = noneIsUp("it requires", *list);
      return;
    }
    const std::vector<Constraint>* const required = job.spec.requirementOf(static_cast<TaskIndex>(task));
    if (required == nullptr) continue;
    if (const Constraint* list = servers.downOf(*required)) {
      job.waits = noneIsUp("task " + std::to_string(task) + " requires", *list);
      return;
    }
  }
}

RunState stateOf(const LateJobStatus& job) {
  const auto has = [&job](RunState state) {
    return std::any_of(job.tasks.begin(), job.tasks.end(),
                       [state](const LateTaskStatus& task) { return task.state == state; });
  };
  if (has(RunState::kQueued)) return RunState::kRunning;
  for (const RunState state : {RunState::kFailed, RunState::kLost, RunState::kCancelled}) {
    if (has(state)) return state;
  }
  return RunState::kDone;
}

Json jsonOf(const LateJobStatus& job) {
  Json tasks = Json::array();
  for (size_t i = 0; i < job.tasks.size(); ++i) tasks.push_back(jsonOf(job.tasks[i], i));
  const std::string reason = reasonOf(job);
  return {{"id", toString(job.id)},
          {"number", jsonNumber(job.number)},
          {"name", job.spec.name},
          {"user", job.user.empty() ? Json() : Json(job.user)},
          {"policy", nameOf(Policy::kLateBinding)},
          {"state", name(stateOf(job))},
          {"reason", reason.empty() ? Json() : Json(reason)},
          {"ahead", 0},
          {"expected_start", Json()},
          {"submitted", jsonTime(job.submitted)},
          {"finished", jsonTime(job.finished)},
          {"tasks", std::move(tasks)}};
}

std::string textOf(const LateJobStatus& job, const Style& style) {
  const Fields fields = {{"Job", style.job(job.number, job.id)},
                         {"Name", job.spec.name},
                         {"Policy", std::string(nameOf(Policy::kLateBinding))},
                         {"State", std::string(name(stateOf(job)))},
                         {job.waits.empty() ? "Result" : "Waits for", reasonOf(job)},
                         {"Submitted", style.time(job.submitted)},
                         {"Finished", style.time(job.finished)},
                         {"Tasks", std::to_string(job.tasks.size()) + " (" + countsOf(job) + ")"}};
  Table table({"Task", "State", "Server", "Attempts", "Reserve ms", "Queue ms", "Get task ms", "Service ms",
               "Result"});
  for (size_t i = 0; i < job.tasks.size(); ++i) {
    if (!style.verbose && i >= kMaxLateTasksShown) break;
    const LateTaskStatus& task = job.tasks[i];
    std::vector<std::string> cells = {std::to_string(i), std::string(name(task.state)), task.server,
                                      std::to_string(task.attempts)};
    for (const auto& [phase, member] : kPhases) {
      cells.push_back(hasRun(task) ? fixed(milliseconds(task.phases.*member), 3) : "");
    }
    cells.push_back(resultOf(task));
    table.add(std::move(cells));
  }
  std::string text = aligned(fields) + "\n" + table.text();
  if (!style.verbose && job.tasks.size() > kMaxLateTasksShown) {
    text += "and " + counted(job.tasks.size() - kMaxLateTasksShown, "more task") + "; --verbose shows all\n";
  }
  return text;
}

Json explanationOf(const LateJobStatus& job) {
  Json phases = Json::object();
  for (const auto& [phase, member] : kPhases) {
    const auto times = timesOf(job, member);
    if (times.empty()) continue;
    phases[phase] = {{"p50", quantile(times, 0.5)}, {"p99", quantile(times, 0.99)}, {"max", times.back()}};
  }
  Json servers = Json::object();
  for (const LateTaskStatus& task : job.tasks) {
    if (!task.server.empty()) servers[task.server] = servers.value(task.server, 0) + 1;
  }
  const std::string reason = reasonOf(job);
  return {{"id", toString(job.id)},
          {"number", jsonNumber(job.number)},
          {"state", name(stateOf(job))},
          {"reason", reason.empty() ? Json() : Json(reason)},
          {"policy", nameOf(Policy::kLateBinding)},
          {"decision", Json::array()},
          {"phases_ms", std::move(phases)},
          {"servers", std::move(servers)}};
}

std::string explanationTextOf(const LateJobStatus& job) {
  Table table({"Phase", "Median ms", "99th percentile ms", "Longest ms"});
  for (const auto& [phase, member] : kPhases) {
    const auto times = timesOf(job, member);
    if (times.empty()) return "No task of it has run yet.\n";
    table.add(
        {phase, fixed(quantile(times, 0.5), 3), fixed(quantile(times, 0.99), 3), fixed(times.back(), 3)});
  }
  return "Its tasks were bound late: reservations waited at several servers, and each task went to the "
         "first with a free slot.\n"
         "Where their time went:\n\n" +
         table.text();
}

}  // namespace tarcil
