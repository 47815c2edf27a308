#include "cli/output/job_status.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "cli/output/output.h"
#include "cli/output/table.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "rpc/errors.h"
#include "schema/convert.h"
#include "schema/convert_performance.h"
#include "schema/convert_pressure.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

constexpr size_t kMaxTasksShown = 50;

// Of the present or last attempt; kNever while the next one waits.
WallTime startOf(const TaskRecord& task) {
  return task.state == RunState::kRunning || isFinal(task.state) ? task.end.started : kNever;
}

WallTime finishOf(const TaskRecord& task) {
  return isFinal(task.state) ? task.end.ended : kNever;
}

bool hasExitCode(const TaskRecord& task) {
  const EndCause cause = task.end.cause;
  return isFinal(task.state) && task.allocation != 0 && task.end.ended != kNever && task.end.signal == 0 &&
         cause != EndCause::kNeverStarted && cause != EndCause::kLost;
}

// Null where it was not measured.
const TaskCharge* chargeOf(const JobStatus& job, const TaskRecord& task) {
  const auto found = std::ranges::lower_bound(job.charges, task.index, {}, &TaskCharge::task);
  return found == job.charges.end() || found->task != task.index ? nullptr : &*found;
}

Json jsonOf(const std::vector<EarlierAttempt>& attempts) {
  Json list = Json::array();
  for (const EarlierAttempt& earlier : attempts)
    list.push_back({{"attempt", earlier.attempt}, {"server", earlier.server}});
  return list;
}

Json jsonOf(const TaskRecord& task, WallTime submitted) {
  const bool isPlaced = isActive(task.state) || (isFinal(task.state) && task.allocation != 0);
  const bool hasEnded = isFinal(task.state);
  return {{"index", task.index},
          {"state", name(task.state)},
          {"server", isPlaced ? Json(task.server) : Json()},
          {"rus", isPlaced ? Json(task.rus) : Json::array()},
          {"extras", isPlaced ? Json(task.extras) : Json::object()},
          {"q", isPlaced ? Json(task.q) : Json()},
          {"s", isPlaced ? Json(task.s) : Json()},
          {"exit_code", hasExitCode(task) ? Json(task.end.exitCode) : Json()},
          {"signal", hasEnded && task.end.signal != 0 ? Json(task.end.signal) : Json()},
          {"oom_killed", hasEnded && task.end.oomKilled},
          {"problem", hasEnded && !task.end.problem.empty() ? Json(task.end.problem) : Json()},
          {"submitted", jsonTime(submitted)},
          {"started", jsonTime(startOf(task))},
          {"finished", jsonTime(finishOf(task))},
          {"peak_memory_bytes",
           hasEnded && task.end.peakMemoryBytes > 0 ? Json(task.end.peakMemoryBytes) : Json()},
          {"cpu_seconds", hasEnded && task.end.cpuTime > Duration(0)
                              ? Json(std::chrono::duration<double>(task.end.cpuTime).count())
                              : Json()},
          {"attempt", task.attempt},
          {"previous", task.previous.empty() ? Json() : Json(task.previous)},
          {"earlier", jsonOf(task.earlier)}};
}

// Null where it starts after no other.
Json jsonOf(const After& after) {
  if (after.empty()) return {};
  const auto ids = [](const std::vector<JobId>& jobs) {
    Json list = Json::array();
    for (const JobId& job : jobs) list.push_back(toString(job));
    return list;
  };
  return {{"ok", ids(after.ok)},
          {"any", ids(after.any)},
          {"failed", ids(after.failed)},
          {"each", after.each ? Json(toString(*after.each)) : Json()},
          {"unmet", kUnmetNames[static_cast<size_t>(after.unmet)].first}};
}

std::string orNothing(const std::string& pressures) {
  return pressures.empty() ? "nothing" : pressures;
}

// Of the tasks that are charged for something else than their profile says.
std::string chargesText(const JobStatus& job, const Style& style) {
  const Pressure& declared = job.record.spec.profile.caused;
  std::string text;
  for (const TaskCharge& charge : job.charges) {
    if (charge.caused == declared || (!style.verbose && charge.task >= kMaxTasksShown)) continue;
    text += "  task " + std::to_string(charge.task) + ": " + orNothing(pressureText(charge.caused)) +
            "; its profile says " + orNothing(pressureText(declared)) + "\n";
  }
  return text.empty() ? "" : "\nCauses, as measured:\n" + text;
}

// Of a task that is over, as its server counted; empty where that is not known.
std::string peakMemoryOf(const TaskRecord& task) {
  return isFinal(task.state) && task.end.peakMemoryBytes > 0 ? formatSize(task.end.peakMemoryBytes) : "";
}
std::string coreTimeOf(const TaskRecord& task) {
  return isFinal(task.state) && task.end.cpuTime > Duration(0) ? formatDuration(task.end.cpuTime) : "";
}

// How the attempt before this one ended; empty for the first.
std::string beforeOf(const TaskRecord& task) {
  return task.previous.empty() ? "" : "before: " + task.previous;
}

std::string taskTable(const JobStatus& job, const Style& style) {
  const bool hasExtras = !job.record.spec.extras.empty();
  const Items& items = job.record.spec.items;
  std::vector<std::string> columns = {"Task"};
  if (!items.empty()) columns.push_back("Item");
  columns.insert(columns.end(), {"State", "Server", "RUs"});
  if (hasExtras) columns.push_back("Extras");
  columns.insert(columns.end(), {"Q", "S", "Attempt", "Started", "Finished"});
  if (style.verbose) columns.insert(columns.end(), {"Peak memory", "Core time"});
  columns.emplace_back("Result");
  Table table(columns);
  for (const TaskRecord& task : job.tasks) {
    if (!style.verbose && task.index >= kMaxTasksShown) break;
    const bool isPlaced = task.allocation != 0 && task.state != RunState::kQueued;
    std::vector<std::string> cells = {std::to_string(task.index)};
    if (!items.empty()) cells.push_back(shown(items[task.index]));
    cells.insert(cells.end(), {std::string(name(task.state)), isPlaced ? task.server : "",
                               isPlaced ? ranges(task.rus) : ""});
    if (hasExtras) cells.push_back(isPlaced ? extrasText(task.extras) : "");
    cells.insert(cells.end(),
                 {isPlaced ? fixed(task.q, 4) : "", isPlaced ? fixed(task.s, 4) : "",
                  std::to_string(task.attempt), style.time(startOf(task)), style.time(finishOf(task))});
    if (style.verbose) cells.insert(cells.end(), {peakMemoryOf(task), coreTimeOf(task)});
    cells.push_back(isFinal(task.state) ? resultOf(task) : beforeOf(task));
    table.add(std::move(cells));
  }
  std::string text = table.text();
  if (!style.verbose && job.tasks.size() > kMaxTasksShown) {
    text += "and " + counted(job.tasks.size() - kMaxTasksShown, "more task") + "; --verbose shows all\n";
  }
  return text;
}

std::vector<uint32_t> countsOf(const JobStatus& job) {
  std::vector<uint32_t> counts(static_cast<size_t>(RunState::kLost) + 1);
  for (const TaskRecord& task : job.tasks) ++counts[static_cast<size_t>(task.state)];
  return counts;
}

using Answer = capnp::Response<wire::UserPort::JobResults>;

kj::Promise<Answer> fetchFrom(Client& client, const JobId& id, TaskIndex firstTask) {
  return client.ask([id, firstTask](Session& session) {
    auto request = session.user.jobRequest();
    request.setId(bytesOf(id));
    request.setFirstTask(firstTask);
    return request.send();
  });
}

void addTasks(wire::JobDetails::Reader from, JobStatus& job) {
  for (auto task : from.getTasks()) job.tasks.push_back(read(task));
  for (TaskViolation& violation : read(from.getViolations())) job.violations.push_back(std::move(violation));
  for (auto charge : from.getCharges()) job.charges.push_back(read(charge));
}

JobStatus readWithoutTasks(wire::JobDetails::Reader from) {
  JobStatus job{
      read(from.getJob()), read(from.getProgress()), {}, from.getAhead(), wallTime(from.getExpectedStart())};
  job.steps = read(from.getSteps());
  return job;
}

kj::Promise<JobStatus> withFurtherTasks(Client& client, JobStatus job, TaskIndex next) {
  if (next == 0) return job;
  auto answered = fetchFrom(client, job.record.id, next);
  return answered.then([&client, job = std::move(job)](Answer&& answer) mutable {
    addTasks(answer.getJob(), job);
    return withFurtherTasks(client, std::move(job), answer.getJob().getNextTask());
  });
}

}  // namespace

kj::Promise<JobStatus> fetchJob(Client& client, const JobId& id) {
  return fetchFrom(client, id, 0).then([&client](Answer&& answer) -> kj::Promise<JobStatus> {
    const auto from = answer.getJob();
    JobStatus job = readWithoutTasks(from);
    addTasks(from, job);
    return withFurtherTasks(client, std::move(job), from.getNextTask());
  });
}

kj::Promise<JobStatus> fetchJobPage(Client& client, const JobId& id, TaskIndex first, uint32_t limit) {
  auto asked = fetchFrom(client, id, 0).then([&client, id, first](Answer&& answer) {
    JobStatus job = readWithoutTasks(answer.getJob());
    if (first == 0) {
      addTasks(answer.getJob(), job);
      return kj::Promise<JobStatus>(std::move(job));
    }
    return fetchFrom(client, id, first).then([job = std::move(job)](Answer&& page) mutable {
      addTasks(page.getJob(), job);
      return std::move(job);
    });
  });
  return asked.then([limit](JobStatus&& job) {
    if (job.tasks.size() > limit) job.tasks.resize(limit);
    return std::move(job);
  });
}

kj::Promise<JobRecord> fetchRecord(Client& client, const JobId& id) {
  return fetchFrom(client, id, kMaxTasks).then([](Answer&& answer) {
    return read(answer.getJob().getJob());
  });
}

kj::Promise<JobCounts> fetchCounts(Client& client, const JobId& id) {
  return fetchFrom(client, id, kMaxTasks).then([](Answer&& answer) {
    const auto from = answer.getJob();
    return JobCounts{read(from.getProgress()), convert::readNumbers<uint32_t>(from.getInState())};
  });
}

std::optional<JobStatus> tryFetchJob(Cluster& cluster, const JobId& id) {
  return cluster.wait(foundOrNothing(fetchJob(cluster.client(), id)));
}

kj::Promise<RunState> waitForJob(Client& client, const JobId& id) {
  return client
      .ask([id](Session& session) {
        auto request = session.user.waitRequest();
        request.setId(bytesOf(id));
        return request.send();
      })
      .then(
          [](capnp::Response<wire::UserPort::WaitResults>&& answer) { return fromWire(answer.getState()); });
}

Json jsonOfAccepted(JobNumber number, const JobId& id) {
  return {{"job", toString(id)}, {"number", jsonNumber(number)}};
}

void printAccepted(const OutputFlags& output, JobNumber number, const JobId& id) {
  if (output.json) {
    printJson(jsonOfAccepted(number, id));
  } else {
    print(aligned({{"Job", styleFor(output.verbose).job(number, id)}}));
  }
}

Json jsonOfImage(const JobStatus& job) {
  const Container& container = job.record.spec.container;
  if (container.image.empty()) return {};
  return {{"reference", container.image},
          {"digest", container.imageDigest.empty() ? Json() : Json(container.imageDigest)}};
}

Json jsonOfCharge(const JobStatus& job, const TaskRecord& task) {
  const TaskCharge* charge = chargeOf(job, task);
  return {{"charged", charge != nullptr ? jsonByResource(charge->caused) : Json()},
          {"measured", charge != nullptr ? namesOf(charge->measured) : Json::array()}};
}

Json jsonOf(const JobStatus& job) {
  Json tasks = Json::array();
  const Items& items = job.record.spec.items;
  for (const TaskRecord& task : job.tasks) {
    tasks.push_back(jsonOf(task, job.record.submitted));
    tasks.back()["item"] = task.index < items.size() ? Json(items[task.index]) : Json();
    tasks.back().update(jsonOfCharge(job, task));
  }
  const bool isWaiting = job.progress.state == RunState::kQueued;
  return {{"id", toString(job.record.id)},
          {"number", jsonNumber(job.record.number)},
          {"name", job.record.spec.name},
          {"user", job.record.user},
          {"state", name(job.progress.state)},
          {"reason", job.progress.reason.empty() ? Json() : Json(job.progress.reason)},
          {"ahead", isWaiting ? job.ahead : 0},
          {"expected_start", isWaiting ? jsonTime(job.expectedStart) : Json()},
          {"after", jsonOf(job.record.spec.after)},
          {"submitted", jsonTime(job.record.submitted)},
          {"profile_replaced", jsonTime(job.record.profileReplaced)},
          {"finished", jsonTime(job.progress.finished)},
          {"cron", job.record.cron.empty() ? Json() : Json(job.record.cron)},
          {"planned", jsonTime(job.record.planned)},
          {"image", jsonOfImage(job)},
          {"tasks", std::move(tasks)}};
}

std::string textOf(const JobStatus& job, const Style& style) {
  const bool isWaiting = job.progress.state == RunState::kQueued;
  Fields fields = {{"Job", style.job(job.record.number, job.record.id)},
                   {"Name", job.record.spec.name},
                   {"User", job.record.user},
                   {"Runs as", job.record.runAs},
                   {"State", std::string(name(job.progress.state))},
                   {isFinal(job.progress.state) ? "Result" : "Waits for", job.progress.reason}};
  if (isWaiting) {
    fields.push_back({"Ahead", counted(job.ahead, "job")});
    fields.push_back({"Should start", style.start(job.expectedStart)});
  }
  fields.push_back({"Submitted", style.time(job.record.submitted)});
  if (!job.record.cron.empty()) {
    const bool isPlanned = job.record.planned != kNever;
    fields.push_back({"Cron", job.record.cron + (isPlanned ? ", planned " + style.time(job.record.planned)
                                                           : std::string(", by hand"))});
  }
  if (job.record.profileReplaced != kNever) {
    fields.push_back({"Profile", "replaced " + style.time(job.record.profileReplaced) +
                                     ", by what was learned of " + job.record.spec.profile.application});
  }
  const Container& container = job.record.spec.container;
  if (!container.image.empty()) fields.push_back({"Image", container.image});
  if (!container.imageDigest.empty()) fields.push_back({"Image is", container.imageDigest});
  fields.push_back({"Finished", style.time(job.progress.finished)});
  fields.push_back({"Tasks", std::to_string(job.tasks.size()) + " (" + textOfCounts(countsOf(job)) + ")"});
  return aligned(fields) + "\n" + taskTable(job, style) + chargesText(job, style);
}

std::string resultOf(const TaskRecord& task) {
  if (!isFinal(task.state)) return "";
  const TaskEnd& end = task.end;
  std::string text;
  if (end.signal != 0) text = "signal " + std::to_string(end.signal);
  if (hasExitCode(task)) text = "exit " + std::to_string(end.exitCode);
  const auto add = [&text](const std::string& what) { text += text.empty() ? what : " (" + what + ")"; };
  if (end.oomKilled) add("out of memory");
  if (end.cause == EndCause::kTimedOut) add("timed out");
  if (end.cause == EndCause::kNeverStarted) add("not started");
  if (!end.problem.empty()) text += (text.empty() ? "" : ": ") + end.problem;
  return text;
}

std::string textOfCounts(const std::vector<uint32_t>& inState) {
  std::string text;
  for (size_t state = 0; state < inState.size(); ++state) {
    if (inState[state] == 0) continue;
    text.append(text.empty() ? "" : ", ").append(std::to_string(inState[state]) + " ");
    text.append(name(static_cast<RunState>(state)));
  }
  return text;
}

}  // namespace tarcil
