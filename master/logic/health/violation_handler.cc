#include "master/logic/health/violation_handler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "master/logic/health/learning.h"
#include "master/logic/health/relocation.h"
#include "master/logic/jobs/task_life.h"
#include "master/logic/queue/claimants.h"
#include "master/logic/queue/reservation.h"

namespace tarcil::master {
namespace {

// What a monitor may say of one task: it is on its way through every query.
constexpr size_t kMaxCauses = 8;
constexpr size_t kMaxEvidence = 256;

using HeldBy = Relocation::HeldBy;

constexpr size_t kMaxSteps = 20;
constexpr Duration kMaxCalm = std::chrono::hours(1);

// A task is moved so often at most: each move costs what it has done so far.
constexpr uint32_t kMaxMoves = 3;

// A server that was shielded takes tasks for so many times the longest shield before it is shielded again:
// tasks that fall short now and then, or one after the other, do not close it.
constexpr int kAutoCordonInterval = 5;

TaskRecord& taskOf(const Hold& hold) {
  return hold.job->tasks[hold.task];
}

std::string titleOf(const Job& job) {
  return job.record.spec.name + " (job " + toString(job.record.id).substr(0, 8) + ")";
}

std::string titleOf(const Hold& hold) {
  return "task " + std::to_string(hold.task) + " of " + titleOf(*hold.job);
}

std::string inWords(size_t units) {
  return std::to_string(units) + (units == 1 ? " unit" : " units");
}

void logStep(const EventContext& context, Job& job, TaskIndex task, std::string text) {
  auto& steps = job.adjusting.steps;
  if (steps.size() == kMaxSteps) steps.erase(steps.begin());
  steps.push_back({context.now.wall, task, std::move(text)});
}

// Who the neighbour of a cause is; empty where there is none, or it is gone.
std::string neighbourOf(const Tables& tables, const Cause& cause) {
  const Hold* hold = cause.neighbour == 0 ? nullptr : tables.jobs.holder(cause.neighbour);
  return hold == nullptr ? std::string() : titleOf(*hold);
}

std::string because(const Tables& tables, const Violation& violation) {
  std::string text =
      "performs at " + std::to_string(std::lround(100 * partOfExpected(violation))) + "% of what is expected";
  if (!violation.causes.empty()) {
    const Cause& likeliest = violation.causes.front();
    text += "; likely cause: " + textOf(likeliest, neighbourOf(tables, likeliest));
  }
  return text;
}

Duration longer(Duration calm) {
  return std::min(2 * calm, kMaxCalm);
}

// One allocation in use, and what is known of its trouble.
class ViolationHandler {
 public:
  ViolationHandler(EventContext& context, AllocationId allocation, DegradedTask& degraded)
      : context_(context),
        tables_(context.tables),
        degraded_(degraded),
        hold_(*tables_.jobs.holder(allocation)),
        job_(*hold_.job),
        task_(taskOf(hold_)),
        server_(tables_.servers.at(hold_.server)) {}

  // The next step that its trouble asks for and its job allows, if there is one left.
  void help() {
    if (task_.stopping || task_.state != RunState::kRunning || !server_.session) return;
    if (!degraded_.resizing.empty()) return;  // one step at a time
    if (context_.now.steady < degraded_.nextStep) return;
    const auto& causes = degraded_.violation->causes;
    const auto likeliest = causes.empty() ? Cause::Kind::kUnknown : causes.front().kind;
    const HeldBy heldBy = likeliest == Cause::Kind::kCores         ? HeldBy::kCores
                          : likeliest == Cause::Kind::kMemoryLimit ? HeldBy::kMemory
                                                                   : HeldBy::kOthers;
    const bool isOwnLimit = heldBy != HeldBy::kOthers;
    const bool othersMatter = !isOwnLimit && likeliest != Cause::Kind::kUnknown;
    if ((isOwnLimit && grow()) || (othersMatter && autoCordon()) || move(heldBy)) {
      degraded_.nextStep = context_.now.steady + tables_.options.adjustingPause;
    }
  }

  // The next step back. False where there is nothing left to be undone.
  bool undo() {
    if (!degraded_.resizing.empty()) return true;
    if (extraUnits() == 0) return false;
    if (task_.stopping || task_.state != RunState::kRunning) return true;  // it has none yet, or not for long
    std::vector<RuIndex> fewer(task_.rus.begin(),
                               task_.rus.begin() + static_cast<ptrdiff_t>(job_.record.spec.rusPerTask));
    return resizeTo(std::move(fewer));
  }

  // The monitor has given it these units.
  void confirm(const std::vector<RuIndex>& rus) {
    degraded_.resizing.clear();
    degraded_.grows = false;
    if (rus.size() < task_.rus.size()) {
      take(rus);
      log("gave units back: " + std::to_string(rus.size()) + " are left");
    }
  }

  // It cannot. A unit that was to be added is free again; all others may be in use by the task, and stay its.
  void refuse(const std::string& why) {
    degraded_.resizing.clear();
    if (!std::exchange(degraded_.grows, false)) return askLater();
    degraded_.failed = why;
    take({task_.rus.begin(), task_.rus.end() - 1});
    log("could not be given another unit: " + why);
  }

  void account() {
    const size_t extra = extraUnits();
    if (extra > 0) {
      tables_.usage.addUnits(job_.record.user, extra, context_.now.steady - degraded_.grownSince);
    }
    degraded_.grownSince = context_.now.steady;
  }

  // The monitor attaches: what was asked of it before counts no more, and it tells anew of a trouble.
  void beginAnew() {
    degraded_.resizing.clear();
    degraded_.grows = false;
    degraded_.violation.reset();
    tables_.violations.due.set(task_.allocation, context_.now.steady + degraded_.calm);
    if (extraUnits() > 0 && !task_.stopping && task_.state == RunState::kRunning) resizeTo(task_.rus);
  }

 private:
  size_t extraUnits() const { return task_.rus.size() - job_.record.spec.rusPerTask; }

  // Nothing is given back for a while, each time a longer one: to ask costs the task memory that it could
  // have kept.
  void askLater() {
    degraded_.calm = longer(degraded_.calm);
    if (!degraded_.violation) {
      tables_.violations.due.set(task_.allocation, context_.now.steady + degraded_.calm);
    }
  }

  bool mayGrow() const { return extraUnits() < job_.record.spec.adjust.moreRus; }

  // Another unit of the server, at the end of those it has.
  bool grow() {
    if (degraded_.failed || !mayGrow()) return false;
    if (isKept(tables_, hold_.server) || server_.status.free.size() == 0) return false;
    if (const Job* waiting = nextEligibleJob(tables_, server_)) {
      if (!std::exchange(degraded_.outranked, true)) {
        log("gets no unit more of " + server_.record.facts.name + " while " + titleOf(*waiting) +
            " waits, which could use it");
      }
      return false;
    }
    degraded_.outranked = false;
    std::vector<RuIndex> more = task_.rus;
    more.push_back(server_.status.free.first(1).front());
    take(more);
    ++tables_.adjusted.grown;
    log("got a unit more of " + server_.record.facts.name + ", " + std::to_string(more.size()) +
        " in all: it " + because(tables_, *degraded_.violation));
    degraded_.grows = true;
    return resizeTo(std::move(more));
  }

  // Keeps new tasks away from the server.
  bool autoCordon() {
    if (degraded_.autoCordoned || !server_.autoCordonReason.empty() || isKept(tables_, hold_.server))
      return false;
    if (context_.now.steady < server_.autoCordonNotBefore) return false;
    const MasterOptions& options = tables_.options;
    const size_t most = std::max<size_t>(1, tables_.servers.size() * options.maxAutoCordonedPercent / 100);
    if (options.maxAutoCordonedPercent == 0 || tables_.servers.autoCordons().size() >= most) return false;
    degraded_.autoCordoned = true;
    server_.autoCordonReason = "kept from new tasks for a while: " + titleOf(hold_) + " falls short there";
    tables_.servers.autoCordons().set(hold_.server, context_.now.steady + options.maxAutoCordon);
    tables_.servers.refreshCordon(server_);
    ++tables_.adjusted.autoCordoned;
    log("no new tasks on " + server_.record.facts.name + ": it " + because(tables_, *degraded_.violation));
    return true;
  }

  // To a place that is enough better: one for its job's units is for its owner to find, who looks for the
  // best; with more than that it is placed here, since no agent may claim them.
  bool move(HeldBy heldBy) {
    const JobProgress& progress = job_.progress;
    if (!job_.record.spec.adjust.move || progress.cancelRequested || progress.held) return false;
    uint32_t& moves = job_.adjusting.moves[hold_.task];
    if (moves >= kMaxMoves || !(degraded_.violation->expected > 0)) return false;
    // Where the look begins differs from task to task, and from time to time.
    const size_t first =
        task_.allocation + std::exchange(degraded_.lookedAt, degraded_.lookedAt + kMaxLookedAt);
    const auto place = betterPlace(tables_,
                                   {hold_, partOfExpected(*degraded_.violation), heldBy,
                                    heldBy == HeldBy::kOthers ? task_.rus.size() : unitsNeeded()},
                                   first);
    if (!place) return false;
    ++moves;
    ++tables_.adjusted.moved;
    const std::string why = because(tables_, *degraded_.violation);
    std::string where = "moved away from " + server_.record.facts.name;
    if (place->rus > job_.record.spec.rusPerTask) {
      where += " to " + inWords(place->rus) + " of " + tables_.servers.at(place->server).record.facts.name;
      job_.adjusting.destinations[hold_.task] = {*place, degraded_.calm};
    }
    log(where + ": it " + why);
    moveTask(context_, hold_, "moved: it " + why);
    return true;
  }

  // With as many it would do as expected, if it did no better with a unit than now; no more than it may have.
  size_t unitsNeeded() const {
    const size_t has = task_.rus.size(), most = job_.record.spec.rusPerTask + job_.record.spec.adjust.moreRus;
    const double part = partOfExpected(*degraded_.violation);
    const double needed = part > 0 ? std::ceil(static_cast<double>(has) / part) : static_cast<double>(most);
    return static_cast<size_t>(
        std::clamp(needed, static_cast<double>(has), static_cast<double>(std::max(has, most))));
  }

  // The record and the server's tables say that it holds these.
  void take(const std::vector<RuIndex>& rus) {
    account();
    tables_.jobs.resize(task_.allocation, rus);
    tables_.servers.resize(server_, task_.allocation, rus);
  }

  bool resizeTo(std::vector<RuIndex> rus) {
    if (!server_.session) return true;  // when its monitor is back
    context_.out.send(ResizeTask{*server_.session, task_.allocation, rus});
    degraded_.resizing = std::move(rus);
    return true;
  }

  void log(std::string text) { logStep(context_, job_, hold_.task, std::move(text)); }

  EventContext& context_;
  Tables& tables_;
  DegradedTask& degraded_;
  const Hold hold_;
  Job& job_;
  TaskRecord& task_;
  Server& server_;
};

// Not within a character of UTF-8.
void cut(std::string& text, size_t most) {
  if (text.size() <= most) return;
  const auto isWithin = [&text](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  while (most > 0 && isWithin(most)) --most;
  text.resize(most);
}

Violation bounded(Violation violation) {
  if (violation.causes.size() > kMaxCauses) violation.causes.resize(kMaxCauses);
  for (Cause& cause : violation.causes) cut(cause.evidence, kMaxEvidence);
  return violation;
}

// The server's shield goes a while after the last trouble there.
void noteCalm(EventContext& context, const Server& server) {
  for (const Resident& resident : server.residents) {
    const DegradedTask* other = context.tables.violations.find(resident.allocation);
    if (other != nullptr && other->violation) return;
  }
  Deadlines& autoCordons = context.tables.servers.autoCordons();
  const MonotonicTime calm = context.now.steady + context.tables.options.adjustingCalm;
  if (const auto end = autoCordons.of(server.record.id); end && *end > calm)
    autoCordons.set(server.record.id, calm);
}

const Server& serverOf(EventContext& context, AllocationId allocation) {
  return context.tables.servers.at(context.tables.jobs.holder(allocation)->server);
}

// What was done stays for as long as it takes to be sure.
void noteOver(EventContext& context, AllocationId allocation, DegradedTask& degraded) {
  if (!degraded.violation) return;
  degraded.violation.reset();
  noteCalm(context, serverOf(context, allocation));
  context.tables.violations.due.set(allocation, context.now.steady + degraded.calm);
}

void noteViolation(EventContext& context, const Violation& violation) {
  ViolationTable& violations = context.tables.violations;
  const AllocationId allocation = violation.allocation;
  DegradedTask* known = violations.find(allocation);
  DegradedTask& degraded = known != nullptr ? *known : violations.add(allocation);
  if (degraded.violation) {  // there is a step due already
    degraded.violation = bounded(violation);
    return;
  }
  degraded.calm = known == nullptr ? context.tables.options.adjustingCalm : longer(degraded.calm);
  degraded.violation = bounded(violation);
  violations.due.set(allocation, context.now.steady + context.tables.options.adjustingPause);
  learnFrom(context, *context.tables.jobs.holder(allocation), violation);
  ViolationHandler(context, allocation, degraded).help();
}

const Hold* heldBy(const Tables& tables, AllocationId allocation, SessionId session) {
  const Hold* hold = tables.jobs.holder(allocation);
  return hold != nullptr && tables.servers.at(hold->server).session == session ? hold : nullptr;
}

}  // namespace

void takeViolations(EventContext& context, const ViolationsReported& event) {
  for (const Violation& violation : event.violations) {
    if (heldBy(context.tables, violation.allocation, event.session) == nullptr) continue;
    if (!violation.over) {
      noteViolation(context, violation);
    } else if (DegradedTask* degraded = context.tables.violations.find(violation.allocation)) {
      noteOver(context, violation.allocation, *degraded);
    }
  }
}

void takeResized(EventContext& context, const TaskResized& event) {
  if (heldBy(context.tables, event.allocation, event.session) == nullptr) return;
  DegradedTask* degraded = context.tables.violations.find(event.allocation);
  if (degraded == nullptr || degraded->resizing != event.rus) return;
  ViolationHandler patient(context, event.allocation, *degraded);
  event.status.ok() ? patient.confirm(event.rus) : patient.refuse(event.status.error().message);
}

void adjustDue(EventContext& context) {
  Tables& tables = context.tables;
  for (const AllocationId allocation : tables.violations.due.takeDue(context.now.steady)) {
    DegradedTask& degraded = *tables.violations.find(allocation);
    ViolationHandler patient(context, allocation, degraded);
    patient.account();  // from time to time, for a master that dies
    if (degraded.violation) {
      patient.help();
      tables.violations.due.set(allocation, context.now.steady + tables.options.adjustingPause);
    } else if (patient.undo()) {
      tables.violations.due.set(allocation, context.now.steady + degraded.calm);
    } else {
      tables.violations.erase(allocation);
    }
  }
  for (const ServerId id : tables.servers.autoCordons().takeDue(context.now.steady)) {
    endAutoCordon(context, tables.servers.at(id));
  }
}

void noteAdjustedEnds(EventContext& context, const Hold& hold) {
  const AllocationId allocation = taskOf(hold).allocation;
  DegradedTask* degraded = context.tables.violations.find(allocation);
  if (degraded == nullptr) return;
  ViolationHandler(context, allocation, *degraded).account();
  context.tables.violations.erase(allocation);
  noteCalm(context, serverOf(context, allocation));
}

void placeMoved(EventContext& context, Job& job, TaskIndex index) {
  const auto entry = job.adjusting.destinations.extract(index);
  if (entry.empty()) return;
  const auto& [claim, calm] = entry.mapped();
  const TaskRecord& task = job.tasks[index];
  if (task.state != RunState::kQueued || task.end.cause != EndCause::kCancelled) return;
  const std::string& server = context.tables.servers.at(claim.server).record.facts.name;
  if (!takePlace(context, job, claim)) {
    logStep(context, job, index,
            "waits for any place: its units of " + server + " are not to be had any more");
    return;
  }
  logStep(context, job, index, "starts on " + inWords(claim.rus) + " of " + server);
  DegradedTask& degraded = context.tables.violations.add(task.allocation);
  degraded.calm = calm;
  degraded.grownSince = context.now.steady;
  context.tables.violations.due.set(task.allocation, context.now.steady + calm);
}

void resumeAdjusting(EventContext& context, const Server& server) {
  for (const Resident& resident : server.residents) {
    if (DegradedTask* degraded = context.tables.violations.find(resident.allocation)) {
      ViolationHandler(context, resident.allocation, *degraded).beginAnew();
      continue;
    }
    // It has what it asked for, as far as is known here; a store that is a copy of earlier days may not know
    // of more.
    const Hold& hold = *context.tables.jobs.holder(resident.allocation);
    const TaskRecord& task = taskOf(hold);
    const bool mayHaveMore = hold.job->record.spec.adjust.moreRus > 0 && task.state == RunState::kRunning;
    if (mayHaveMore && !task.stopping) {
      context.out.send(ResizeTask{*server.session, task.allocation, task.rus});
    }
  }
}

void restoreAdjusting(EventContext& context) {
  Tables& tables = context.tables;
  for (ServerId id = 0; id < tables.servers.size(); ++id) {
    for (const Resident& resident : std::as_const(tables.servers).at(id).residents) {
      const Hold& hold = *tables.jobs.holder(resident.allocation);
      if (resident.rus.size() <= hold.job->record.spec.rusPerTask) continue;
      DegradedTask& degraded = tables.violations.add(resident.allocation);
      degraded.calm = tables.options.adjustingCalm;
      degraded.grownSince = context.now.steady;
      tables.violations.due.set(resident.allocation, context.now.steady + degraded.calm);
    }
  }
}

void endAutoCordon(EventContext& context, Server& server) {
  if (server.autoCordonReason.empty()) return;
  server.autoCordonReason.clear();
  server.autoCordonNotBefore =
      context.now.steady + kAutoCordonInterval * context.tables.options.maxAutoCordon;
  context.tables.servers.autoCordons().clear(server.record.id);
  context.tables.servers.refreshCordon(server);
}

std::optional<TaskViolation> violationOf(const Tables& tables, const Hold& hold) {
  const TaskRecord& task = taskOf(hold);
  const DegradedTask* degraded = tables.violations.find(task.allocation);
  if (degraded == nullptr || !degraded->violation) return std::nullopt;
  TaskViolation view{.job = task.job,
                     .task = task.index,
                     .server = task.server,
                     .violation = *degraded->violation,
                     .neighbours = {}};
  for (const Cause& cause : view.violation.causes) view.neighbours.push_back(neighbourOf(tables, cause));
  return view;
}

}  // namespace tarcil::master
