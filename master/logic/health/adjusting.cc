#include "master/logic/health/adjusting.h"

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
constexpr size_t kMostCauses = 8;
constexpr size_t kMostEvidence = 256;

using HeldBy = Relocation::HeldBy;

constexpr size_t kMostSteps = 20;
constexpr Duration kLongestCalm = std::chrono::hours(1);

// A task is moved so often at most: each move costs what it has done so far.
constexpr uint32_t kMostMoves = 3;

// A server that was shielded takes tasks for so many times the longest shield before it is shielded again:
// tasks that fall short now and then, or one after the other, do not close it.
constexpr int kShieldsApart = 5;

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

void logStep(const Context& context, Job& job, TaskIndex task, std::string text) {
  auto& steps = job.adjusting.steps;
  if (steps.size() == kMostSteps) steps.erase(steps.begin());
  steps.push_back({context.now.wall, task, std::move(text)});
}

// Who the neighbour of a cause is; empty where there is none, or it is gone.
std::string neighbourOf(const Tables& tables, const Cause& cause) {
  const Hold* hold = cause.neighbour == 0 ? nullptr : tables.jobs.holder(cause.neighbour);
  return hold == nullptr ? std::string() : titleOf(*hold);
}

std::string because(const Tables& tables, const Trouble& trouble) {
  std::string text =
      "performs at " + std::to_string(std::lround(100 * partOfExpected(trouble))) + "% of what is expected";
  if (!trouble.causes.empty()) {
    const Cause& likeliest = trouble.causes.front();
    text += "; likely cause: " + textOf(likeliest, neighbourOf(tables, likeliest));
  }
  return text;
}

Duration longer(Duration calm) {
  return std::min(2 * calm, kLongestCalm);
}

// One allocation in use, and what is known of its trouble.
class Patient {
 public:
  Patient(Context& context, AllocationId allocation, TroubledTask& troubled)
      : context_(context),
        tables_(context.tables),
        troubled_(troubled),
        hold_(*tables_.jobs.holder(allocation)),
        job_(*hold_.job),
        task_(taskOf(hold_)),
        server_(tables_.servers.at(hold_.server)) {}

  // The next step that its trouble asks for and its job allows, if there is one left.
  void help() {
    if (task_.stopping || task_.state != RunState::kRunning || !server_.session) return;
    if (!troubled_.resizing.empty()) return;  // one step at a time
    if (context_.now.steady < troubled_.nextStep) return;
    const auto& causes = troubled_.trouble->causes;
    const auto likeliest = causes.empty() ? Cause::Kind::kUnknown : causes.front().kind;
    const HeldBy heldBy = likeliest == Cause::Kind::kCores         ? HeldBy::kCores
                          : likeliest == Cause::Kind::kMemoryLimit ? HeldBy::kMemory
                                                                   : HeldBy::kOthers;
    const bool isOwnLimit = heldBy != HeldBy::kOthers;
    const bool othersMatter = !isOwnLimit && likeliest != Cause::Kind::kUnknown;
    if ((isOwnLimit && grow()) || (othersMatter && shield()) || move(heldBy)) {
      troubled_.nextStep = context_.now.steady + tables_.options.adjustingPause;
    }
  }

  // The next step back. False where there is nothing left to be undone.
  bool undo() {
    if (!troubled_.resizing.empty()) return true;
    if (extraUnits() == 0) return false;
    if (task_.stopping || task_.state != RunState::kRunning) return true;  // it has none yet, or not for long
    std::vector<RuIndex> fewer(task_.rus.begin(),
                               task_.rus.begin() + static_cast<ptrdiff_t>(job_.record.spec.rusPerTask));
    return resizeTo(std::move(fewer));
  }

  // The monitor has given it these units.
  void confirm(const std::vector<RuIndex>& rus) {
    troubled_.resizing.clear();
    troubled_.grows = false;
    if (rus.size() < task_.rus.size()) {
      take(rus);
      log("gave units back: " + std::to_string(rus.size()) + " are left");
    }
  }

  // It cannot. A unit that was to be added is free again; all others may be in use by the task, and stay its.
  void refuse(const std::string& why) {
    troubled_.resizing.clear();
    if (!std::exchange(troubled_.grows, false)) return askLater();
    troubled_.failed = why;
    take({task_.rus.begin(), task_.rus.end() - 1});
    log("could not be given another unit: " + why);
  }

  void account() {
    const size_t extra = extraUnits();
    if (extra > 0) {
      tables_.usage.addUnits(job_.record.user, extra, context_.now.steady - troubled_.grownSince);
    }
    troubled_.grownSince = context_.now.steady;
  }

  // The monitor attaches: what was asked of it before counts no more, and it tells anew of a trouble.
  void beginAnew() {
    troubled_.resizing.clear();
    troubled_.grows = false;
    troubled_.trouble.reset();
    tables_.troubles.due.set(task_.allocation, context_.now.steady + troubled_.calm);
    if (extraUnits() > 0 && !task_.stopping && task_.state == RunState::kRunning) resizeTo(task_.rus);
  }

 private:
  size_t extraUnits() const { return task_.rus.size() - job_.record.spec.rusPerTask; }

  // Nothing is given back for a while, each time a longer one: to ask costs the task memory that it could
  // have kept.
  void askLater() {
    troubled_.calm = longer(troubled_.calm);
    if (!troubled_.trouble) {
      tables_.troubles.due.set(task_.allocation, context_.now.steady + troubled_.calm);
    }
  }

  bool mayGrow() const { return extraUnits() < job_.record.spec.adjust.moreRus; }

  // Another unit of the server, at the end of those it has.
  bool grow() {
    if (troubled_.failed || !mayGrow()) return false;
    if (isKept(tables_, hold_.server) || server_.status.free.size() == 0) return false;
    if (const Job* waiting = nextEligibleJob(tables_, server_)) {
      if (!std::exchange(troubled_.outranked, true)) {
        log("gets no unit more of " + server_.record.facts.name + " while " + titleOf(*waiting) +
            " waits, which could use it");
      }
      return false;
    }
    troubled_.outranked = false;
    std::vector<RuIndex> more = task_.rus;
    more.push_back(server_.status.free.first(1).front());
    take(more);
    ++tables_.adjusted.grown;
    log("got a unit more of " + server_.record.facts.name + ", " + std::to_string(more.size()) +
        " in all: it " + because(tables_, *troubled_.trouble));
    troubled_.grows = true;
    return resizeTo(std::move(more));
  }

  // Keeps new tasks away from the server.
  bool shield() {
    if (troubled_.shielded || !server_.shieldReason.empty() || isKept(tables_, hold_.server)) return false;
    if (context_.now.steady < server_.shieldNotBefore) return false;
    const MasterOptions& options = tables_.options;
    const size_t most = std::max<size_t>(1, tables_.servers.size() * options.maxAutoCordonedPercent / 100);
    if (options.maxAutoCordonedPercent == 0 || tables_.servers.shields().size() >= most) return false;
    troubled_.shielded = true;
    server_.shieldReason = "kept from new tasks for a while: " + titleOf(hold_) + " falls short there";
    tables_.servers.shields().set(hold_.server, context_.now.steady + options.maxAutoCordon);
    tables_.servers.refreshCordon(server_);
    ++tables_.adjusted.shielded;
    log("no new tasks on " + server_.record.facts.name + ": it " + because(tables_, *troubled_.trouble));
    return true;
  }

  // To a place that is enough better: one for its job's units is for its owner to find, who looks for the
  // best; with more than that it is placed here, since no agent may claim them.
  bool move(HeldBy heldBy) {
    const JobProgress& progress = job_.progress;
    if (!job_.record.spec.adjust.move || progress.cancelRequested || progress.held) return false;
    uint32_t& moves = job_.adjusting.moves[hold_.task];
    if (moves >= kMostMoves || !(troubled_.trouble->expected > 0)) return false;
    // Where the look begins differs from task to task, and from time to time.
    const size_t first =
        task_.allocation + std::exchange(troubled_.lookedAt, troubled_.lookedAt + kMostLookedAt);
    const auto place = betterPlace(tables_,
                                   {hold_, partOfExpected(*troubled_.trouble), heldBy,
                                    heldBy == HeldBy::kOthers ? task_.rus.size() : unitsNeeded()},
                                   first);
    if (!place) return false;
    ++moves;
    ++tables_.adjusted.moved;
    const std::string why = because(tables_, *troubled_.trouble);
    std::string where = "moved away from " + server_.record.facts.name;
    if (place->rus > job_.record.spec.rusPerTask) {
      where += " to " + inWords(place->rus) + " of " + tables_.servers.at(place->server).record.facts.name;
      job_.adjusting.destinations[hold_.task] = {*place, troubled_.calm};
    }
    log(where + ": it " + why);
    moveTask(context_, hold_, "moved: it " + why);
    return true;
  }

  // With as many it would do as expected, if it did no better with a unit than now; no more than it may have.
  size_t unitsNeeded() const {
    const size_t has = task_.rus.size(), most = job_.record.spec.rusPerTask + job_.record.spec.adjust.moreRus;
    const double part = partOfExpected(*troubled_.trouble);
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
    troubled_.resizing = std::move(rus);
    return true;
  }

  void log(std::string text) { logStep(context_, job_, hold_.task, std::move(text)); }

  Context& context_;
  Tables& tables_;
  TroubledTask& troubled_;
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

Trouble bounded(Trouble trouble) {
  if (trouble.causes.size() > kMostCauses) trouble.causes.resize(kMostCauses);
  for (Cause& cause : trouble.causes) cut(cause.evidence, kMostEvidence);
  return trouble;
}

// The server's shield goes a while after the last trouble there.
void noteCalm(Context& context, const Server& server) {
  for (const Resident& resident : server.residents) {
    const TroubledTask* other = context.tables.troubles.find(resident.allocation);
    if (other != nullptr && other->trouble) return;
  }
  Deadlines& shields = context.tables.servers.shields();
  const MonotonicTime calm = context.now.steady + context.tables.options.adjustingCalm;
  if (const auto end = shields.of(server.record.id); end && *end > calm) shields.set(server.record.id, calm);
}

const Server& serverOf(Context& context, AllocationId allocation) {
  return context.tables.servers.at(context.tables.jobs.holder(allocation)->server);
}

// What was done stays for as long as it takes to be sure.
void noteOver(Context& context, AllocationId allocation, TroubledTask& troubled) {
  if (!troubled.trouble) return;
  troubled.trouble.reset();
  noteCalm(context, serverOf(context, allocation));
  context.tables.troubles.due.set(allocation, context.now.steady + troubled.calm);
}

void noteTrouble(Context& context, const Trouble& trouble) {
  TroubleTable& troubles = context.tables.troubles;
  const AllocationId allocation = trouble.allocation;
  TroubledTask* known = troubles.find(allocation);
  TroubledTask& troubled = known != nullptr ? *known : troubles.add(allocation);
  if (troubled.trouble) {  // there is a step due already
    troubled.trouble = bounded(trouble);
    return;
  }
  troubled.calm = known == nullptr ? context.tables.options.adjustingCalm : longer(troubled.calm);
  troubled.trouble = bounded(trouble);
  troubles.due.set(allocation, context.now.steady + context.tables.options.adjustingPause);
  learnFrom(context, *context.tables.jobs.holder(allocation), trouble);
  Patient(context, allocation, troubled).help();
}

const Hold* heldBy(const Tables& tables, AllocationId allocation, SessionId session) {
  const Hold* hold = tables.jobs.holder(allocation);
  return hold != nullptr && tables.servers.at(hold->server).session == session ? hold : nullptr;
}

}  // namespace

void takeTroubles(Context& context, const TroublesReported& event) {
  for (const Trouble& trouble : event.troubles) {
    if (heldBy(context.tables, trouble.allocation, event.session) == nullptr) continue;
    if (!trouble.over) {
      noteTrouble(context, trouble);
    } else if (TroubledTask* troubled = context.tables.troubles.find(trouble.allocation)) {
      noteOver(context, trouble.allocation, *troubled);
    }
  }
}

void takeResized(Context& context, const TaskResized& event) {
  if (heldBy(context.tables, event.allocation, event.session) == nullptr) return;
  TroubledTask* troubled = context.tables.troubles.find(event.allocation);
  if (troubled == nullptr || troubled->resizing != event.rus) return;
  Patient patient(context, event.allocation, *troubled);
  event.status.ok() ? patient.confirm(event.rus) : patient.refuse(event.status.error().message);
}

void adjustDue(Context& context) {
  Tables& tables = context.tables;
  for (const AllocationId allocation : tables.troubles.due.takeDue(context.now.steady)) {
    TroubledTask& troubled = *tables.troubles.find(allocation);
    Patient patient(context, allocation, troubled);
    patient.account();  // from time to time, for a master that dies
    if (troubled.trouble) {
      patient.help();
      tables.troubles.due.set(allocation, context.now.steady + tables.options.adjustingPause);
    } else if (patient.undo()) {
      tables.troubles.due.set(allocation, context.now.steady + troubled.calm);
    } else {
      tables.troubles.erase(allocation);
    }
  }
  for (const ServerId id : tables.servers.shields().takeDue(context.now.steady)) {
    endShield(context, tables.servers.at(id));
  }
}

void noteAdjustedEnds(Context& context, const Hold& hold) {
  const AllocationId allocation = taskOf(hold).allocation;
  TroubledTask* troubled = context.tables.troubles.find(allocation);
  if (troubled == nullptr) return;
  Patient(context, allocation, *troubled).account();
  context.tables.troubles.erase(allocation);
  noteCalm(context, serverOf(context, allocation));
}

void placeMoved(Context& context, Job& job, TaskIndex index) {
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
  TroubledTask& troubled = context.tables.troubles.add(task.allocation);
  troubled.calm = calm;
  troubled.grownSince = context.now.steady;
  context.tables.troubles.due.set(task.allocation, context.now.steady + calm);
}

void resumeAdjusting(Context& context, const Server& server) {
  for (const Resident& resident : server.residents) {
    if (TroubledTask* troubled = context.tables.troubles.find(resident.allocation)) {
      Patient(context, resident.allocation, *troubled).beginAnew();
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

void restoreAdjusting(Context& context) {
  Tables& tables = context.tables;
  for (ServerId id = 0; id < tables.servers.size(); ++id) {
    for (const Resident& resident : std::as_const(tables.servers).at(id).residents) {
      const Hold& hold = *tables.jobs.holder(resident.allocation);
      if (resident.rus.size() <= hold.job->record.spec.rusPerTask) continue;
      TroubledTask& troubled = tables.troubles.add(resident.allocation);
      troubled.calm = tables.options.adjustingCalm;
      troubled.grownSince = context.now.steady;
      tables.troubles.due.set(resident.allocation, context.now.steady + troubled.calm);
    }
  }
}

void endShield(Context& context, Server& server) {
  if (server.shieldReason.empty()) return;
  server.shieldReason.clear();
  server.shieldNotBefore = context.now.steady + kShieldsApart * context.tables.options.maxAutoCordon;
  context.tables.servers.shields().clear(server.record.id);
  context.tables.servers.refreshCordon(server);
}

std::optional<TaskTrouble> troubleOf(const Tables& tables, const Hold& hold) {
  const TaskRecord& task = taskOf(hold);
  const TroubledTask* troubled = tables.troubles.find(task.allocation);
  if (troubled == nullptr || !troubled->trouble) return std::nullopt;
  TaskTrouble view{.job = task.job,
                   .task = task.index,
                   .server = task.server,
                   .trouble = *troubled->trouble,
                   .neighbours = {}};
  for (const Cause& cause : view.trouble.causes) view.neighbours.push_back(neighbourOf(tables, cause));
  return view;
}

}  // namespace tarcil::master
