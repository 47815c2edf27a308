#include "cli/output/cron.h"

#include "cli/output/table.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "env/time_zone.h"
#include "schema/convert.h"
#include "schema/convert_cron.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

// What is made each time; the rest is in the job's file. Lists come without it.
Json jsonOf(const JobSpec& job) {
  return {
      {"name", job.name}, {"command", job.command}, {"tasks", job.tasks}, {"rus_per_task", job.rusPerTask}};
}

Json jsonOf(const CronRun& run) {
  const bool hasJob = run.number != 0;
  return {{"planned", jsonTime(run.planned)},
          {"before", jsonTime(run.before)},
          {"by_hand", run.isByHand},
          {"job", hasJob ? Json(toString(run.job)) : Json()},
          {"number", jsonNumber(run.number)},
          {"state", hasJob ? Json(name(run.state)) : Json()},
          {"reason", run.reason.empty() ? Json() : Json(run.reason)}};
}

// Whole seconds, by the clock of the cron's zone; by UTC where this machine does not know it.
std::string localTime(const Cron& cron, WallTime time) {
  const auto zone = TimeZone::named(cron.spec.zone);
  std::string text = formatLocalTime(time, zone ? *zone : TimeZone());
  if (const size_t fraction = text.find('.'); fraction != std::string::npos) text.erase(fraction, 7);
  return text;
}

// "4711 (done)".
std::string jobText(const CronRun& run, const Style& style) {
  return style.job(run.number, run.job) + " (" + std::string(name(run.state)) + ")";
}

std::string whatBecame(const Cron& cron, const CronRun& run, const Style& style) {
  if (run.number != 0) return "job " + jobText(run, style) + (run.isByHand ? ", by hand" : "");
  std::string text = "no job: " + run.reason;
  if (run.before != kNever) text += " (and other times before " + localTime(cron, run.before) + ")";
  return text;
}

std::string commandText(const JobSpec& job) {
  return shown(joined(job.command, " "));
}

}  // namespace

std::string stateText(const CronStatus& status) {
  if (!status.problem.empty()) return "cannot be run: " + status.problem;
  if (status.cron.isHeld) return "held";
  if (status.cron.pending != kNever) return status.cron.problem.empty() ? "due" : status.cron.problem;
  return "active";
}

CronStatus readCronStatus(wire::CronDetails::Reader from) {
  CronStatus status{.cron = read(from.getCron()), .next = {}, .problem = convert::text(from.getProblem())};
  for (const int64_t time : from.getNext()) status.next.push_back(wallTime(time));
  return status;
}

Json jsonOf(const CronStatus& status) {
  const Cron& cron = status.cron;
  Json next = Json::array(), runs = Json::array();
  for (const WallTime time : status.next) next.push_back(jsonTime(time));
  for (const CronRun& run : cron.runs) runs.push_back(jsonOf(run));
  Json pending;
  if (cron.pending != kNever) {
    pending = {{"planned", jsonTime(cron.pending)},
               {"reason", cron.problem.empty() ? Json() : Json(cron.problem)}};
  }
  return {{"name", cron.spec.name},
          {"user", cron.user},
          {"schedule", cron.spec.schedule},
          {"zone", cron.spec.zone},
          {"if_running", nameIn(kIfRunningNames, cron.spec.ifRunning)},
          {"deadline", std::chrono::duration<double>(cron.spec.deadline).count()},
          {"held", cron.isHeld},
          {"job", cron.spec.job.command.empty() ? Json() : jsonOf(cron.spec.job)},
          {"problem", status.problem.empty() ? Json() : Json(status.problem)},
          {"added", jsonTime(cron.added)},
          {"next", std::move(next)},
          {"pending", std::move(pending)},
          {"last", cron.lastJob ? jsonOf(*cron.lastJob) : Json()},
          {"runs", std::move(runs)}};
}

std::string tableOf(const std::vector<CronStatus>& crons, const Style& style) {
  Table table({"Name", "User", "Schedule", "Zone", "Next", "Last job", "State"});
  for (const CronStatus& status : crons) {
    const Cron& cron = status.cron;
    table.add({cron.spec.name, cron.user, cron.spec.schedule, cron.spec.zone,
               status.next.empty() ? "" : style.start(status.next.front()),
               cron.lastJob ? jobText(*cron.lastJob, style) : "", stateText(status)});
  }
  return table.text();
}

std::string textOf(const CronStatus& status, const Style& style) {
  const Cron& cron = status.cron;
  Fields fields = {{"Name", cron.spec.name},
                   {"User", cron.user},
                   {"Runs as", cron.runAs},
                   {"Schedule", cron.spec.schedule},
                   {"Zone", cron.spec.zone},
                   {"If running", std::string(nameIn(kIfRunningNames, cron.spec.ifRunning))},
                   {"Deadline", formatDuration(cron.spec.deadline)},
                   {"Job", cron.spec.job.name},
                   {"Command", commandText(cron.spec.job)},
                   {"Tasks", std::to_string(cron.spec.job.tasks)},
                   {"RUs", std::to_string(cron.spec.job.rusPerTask) + " a task"},
                   {"State", stateText(status)},
                   {"Added", style.time(cron.added)}};
  if (cron.pending != kNever) fields.push_back({"Due since", localTime(cron, cron.pending)});
  fields.push_back({"Last job", cron.lastJob ? jobText(*cron.lastJob, style) : ""});
  std::string text = aligned(fields);
  if (!status.next.empty()) {
    Table next({"Next", "In"});
    for (const WallTime time : status.next)
      next.add({localTime(cron, time), formatRelative(time, style.clock.now)});
    text += "\n" + next.text();
  }
  if (!cron.runs.empty()) {
    Table runs({"Time", "What became of it"});
    for (auto run = cron.runs.rbegin(); run != cron.runs.rend(); ++run)
      runs.add({localTime(cron, run->planned), whatBecame(cron, *run, style)});
    text += "\n" + runs.text();
  }
  return text;
}

}  // namespace tarcil
