#include "cli/tarcild/recording_lines.h"

#include "formats/recording_file.h"

#include <algorithm>

#include "cli/output/render.h"
#include "core/model/job_fields.h"

namespace tarcil::recording {
namespace {

// Only what differs from `usual`.
Json unusual(const Pressure& pressure, uint8_t usual) {
  Json json = Json::object();
  for (size_t i = 0; i < kResources; ++i) {
    if (pressure[i] != usual) json[std::string(kResourceNames[i])] = int{pressure[i]};
  }
  return json;
}

// Microseconds; null where nothing is set.
Json micros(const std::optional<Duration>& duration) {
  return duration ? Json(duration->count()) : Json();
}

// What the job asks for beyond units, profile and priority, for people and to be counted: a replay
// goes without.
Json beyond(const JobSpec& spec) {
  Json json = Json::array();
  forEachJobField([&](const auto& field) {
    if (field.replayed == Replayed::kNo && !field.isDefault(spec)) json.push_back(field.key());
  });
  if (!spec.placement.constraints.empty()) json.push_back("constraints");
  if (!spec.placement.prefer.empty() || !spec.placement.preferOfTask.empty()) json.push_back("prefer");
  if (!spec.placement.requireOfTask.empty()) json.push_back("require");
  if (!spec.extras.empty()) json.push_back("extras");
  return json;
}

// Whether it has started, in its present or last attempt.
bool hasStarted(const TaskRecord& task) {
  return (task.state == RunState::kRunning || isFinal(task.state)) && task.end.started != kNever;
}

Json taskJson(const TaskRecord& task) {
  // The clock of a machine may have been set back while the task ran.
  const bool isOver = isFinal(task.state);
  const WallTime ended = isOver ? std::max(task.end.started, task.end.ended) : kNever;
  return {{"index", task.index},
          {"state", name(task.state)},
          {"server", task.server},
          {"started", jsonTime(task.end.started)},
          {"ended", jsonTime(ended)},
          {"attempt", task.attempt},
          {"q", task.q},
          {"s", task.s}};
}

// To an end, on a server.
bool hasRun(const LateTaskStatus& task) {
  return task.state == RunState::kDone || task.state == RunState::kFailed || task.code != 0;
}

// Its monitor measured how long each phase took, but not when: they are laid end to end from the submission.
Json taskJson(const LateTaskStatus& task, size_t index, WallTime submitted) {
  const late::Phases& phases = task.phases;
  const WallTime started = submitted + phases.reserve + phases.queue + phases.getTask;
  return {{"index", index},
          {"state", name(task.state)},
          {"server", task.server},
          {"started", jsonTime(started)},
          {"ended", jsonTime(started + phases.service)},
          {"attempt", task.attempts - 1}};
}

}  // namespace

Json head(const std::string& program) {
  return {{"tarcil_recording", kRecordingVersion}, {"by", program}};
}

Json lineOf(const QualitySettings& settings) {
  return {{"settings",
           {{"target", settings.target},
            {"rarity", settings.rarity},
            {"confidence", settings.confidence},
            {"cap", settings.cap ? Json(*settings.cap) : Json()},
            {"floor", settings.floor},
            {"ratio", settings.ratio ? Json(*settings.ratio) : Json()},
            {"model", kQualityModelNames[static_cast<size_t>(settings.model)]},
            {"contention", kContentionModelNames[static_cast<size_t>(settings.contention)]},
            {"ranking", kRankByNames[static_cast<size_t>(settings.ranking)]},
            {"margin", settings.margin},
            {"noise_floor", settings.noiseFloor},
            {"protect_neighbours", settings.protectNeighbours},
            {"neighbour_floor", settings.neighbourFloor}}}};
}

Json lineOf(const std::string& platform, const Share& share) {
  return {{"platform", {{"name", platform}, {"share", jsonByResource(share)}}}};
}

Json lineOf(const ServerFacts& facts, const ServerStatus& status) {
  return {{"server",
           {{"name", facts.name},
            {"platform", facts.platform},
            {"rack", facts.rack},
            {"rus", facts.rus},
            {"up", status.up},
            {"cordoned", status.cordoned},
            {"background", unusual(status.background, 0)},
            {"attributes", facts.attributes},
            {"extras", facts.extras}}}};
}

Json lineOf(const JobRecord& job) {
  const JobSpec& spec = job.spec;
  Json json = {{"id", toString(job.id)},
               {"name", spec.name},
               {"user", job.user},
               {"application", spec.profile.application},
               {"submitted", jsonTime(job.submitted)},
               {"policy", nameOf(spec.policy)},
               {"priority", int{spec.priority}},
               {"tasks", spec.tasks},
               {"rus_per_task", spec.rusPerTask},
               {"target", spec.target ? Json(*spec.target) : Json()},
               {"max_wait_us", micros(spec.maxWait)},
               {"caused", unusual(spec.profile.caused, 0)},
               {"tolerated", unusual(spec.profile.tolerated, kMaxPressure)},
               {"platforms", spec.profile.platforms},
               {"beyond", beyond(spec)}};
  return {{"job", std::move(json)}};
}

Json lineOf(const JobStatus& job, size_t first, size_t count) {
  Json tasks = Json::array();
  for (size_t i = first; i < std::min(first + count, job.tasks.size()); ++i) {
    if (hasStarted(job.tasks[i])) tasks.push_back(taskJson(job.tasks[i]));
  }
  return {{"progress",
           {{"job", toString(job.record.id)},
            {"state", name(job.progress.state)},
            {"finished", jsonTime(job.progress.finished)},
            {"tasks", std::move(tasks)}}}};
}

JobRecord recordOf(const LateJobStatus& job) {
  JobRecord record;
  record.id = job.id;
  record.user = job.user;
  record.submitted = job.submitted;
  record.spec = job.spec;
  return record;
}

Json lineOf(const LateJobStatus& job, size_t first, size_t count) {
  Json tasks = Json::array();
  for (size_t i = first; i < std::min(first + count, job.tasks.size()); ++i) {
    if (hasRun(job.tasks[i])) tasks.push_back(taskJson(job.tasks[i], i, job.submitted));
  }
  return {{"progress",
           {{"job", toString(job.id)},
            {"state", name(stateOf(job))},
            {"finished", jsonTime(job.finished)},
            {"tasks", std::move(tasks)}}}};
}

Json stopped(const std::string& why) {
  return {{"stopped", why}};
}

}  // namespace tarcil::recording
