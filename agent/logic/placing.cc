// Placing: sample the copy, choose, commit; and what becomes of a job that finds no slot.
#include <algorithm>
#include <span>

#include "agent/logic/agent_state.h"
#include "core/decide/chooser.h"
#include "core/decide/margin.h"

namespace tarcil {

using namespace agent;

namespace {

// Waiting jobs planned per event; each costs a decision, some tens of microseconds.
constexpr int kTriedPerEvent = 64;

// Tasks of one commit, so that a huge job does not hold up the others behind one event or one message.
constexpr size_t kTasksPerCommit = 1024;

// Least time between two commits that only say why a job waits.
constexpr Duration kReasonInterval = std::chrono::seconds(1);

}  // namespace

void AgentLogic::State::tryWaiting(EventContext& context) {
  for (int tries = 0; tries < kTriedPerEvent && !toTry.empty(); ++tries) {
    Job& job = jobs.at(toTry.begin()->second);
    job.replans = 0;
    plan(job, context);
  }
}

void AgentLogic::State::markToTry(Job& job) {
  if (!std::exchange(job.isToTry, true)) job.tryNumber = ++tryNumber;
}

void AgentLogic::State::markToTryWhenFree(Job& job) {
  if (isBehindOthers(job.spec())) {
    deferred.insert(job.id());
  } else {
    markToTry(job);
  }
}

bool AgentLogic::State::isBehindOthers(const JobSpec& spec) const {
  return pendingPriority && spec.priority <= *pendingPriority;
}

std::span<const ServerId> AgentLogic::State::keptFrom(const JobSpec& spec) const {
  return isBehindOthers(spec) ? kept : std::span<const ServerId>();
}

void AgentLogic::State::submitUntried(Job& job, EventContext& context) {
  Commit commit = emptyCommit(job);
  commit.newJob = NewJob{.record = job.held.record(), .files = job.files};
  send(job, std::move(commit), whenOffered(), context);
  refresh(job, context);
}

void AgentLogic::State::plan(Job& job, EventContext& context) {
  toTry.erase({job.tryNumber, job.id()});
  deferred.erase(job.id());
  job.isToTry = false;
  WaitReason reason;
  Commit commit = decide(job, reason, context);
  if (job.durable && commit.claims.empty()) {
    noteReason(job, std::move(reason), std::move(commit.explanation), context);
  } else {
    if (!job.durable) commit.newJob = NewJob{.record = job.held.record(), .files = job.files};
    send(job, std::move(commit), reason, context);
  }
  pass(job, context);
  refresh(job, context);
}

// A commit for the job answers its turn as well.
void AgentLogic::State::pass(Job& job, EventContext& context) {
  if (std::exchange(job.isOffered, false)) context.passed.push_back(job.id());
}

Commit AgentLogic::State::decide(Job& job, WaitReason& reason, EventContext& context) {
  const How how{.settings = settingsFor(job),
                .standard = job.late ? Standard::kBestThereIs : Standard::kAcceptable,
                .atMost = kTasksPerCommit,
                .seed = context.rng(),
                .except = job.isOffered ? std::span<const ServerId>(job.leaves) : keptFrom(job.spec())};
  Attempt attempt = attemptFor(job.held, how, chooser);
  if (attempt.decision.explanation.drawn > 0) ++decisions;
  if (attempt.isCutOff) markToTry(job);  // goes on with its next commit, which is no waiting
  reason = std::move(attempt.reason);
  Commit commit = emptyCommit(job);
  commit.claims = std::move(attempt.decision.claims);
  commit.explanation = std::move(attempt.decision.explanation);
  commit.judging.margin = commit.explanation.margin;
  return commit;
}

bool AgentLogic::State::lookOn(const JobSpec& spec, const Decision& decision, const How& how) const {
  const Explanation& explained = decision.explanation;
  return spec.policy == Policy::kQuality && how.standard == Standard::kAcceptable && !explained.enoughFound &&
         !explained.allSeen;
}

QualitySettings AgentLogic::State::settingsNow() const {
  QualitySettings now = settings;
  if (crowded) now.margin = 0;
  return now;
}

QualitySettings AgentLogic::State::settingsFor(const Job& job) const {
  QualitySettings now = settingsNow();
  const bool mayUseReserved = job.isOffered && job.leaves.size() < kept.size();
  if (mayUseReserved) now.margin = 0;
  return now;
}

AgentLogic::State::Attempt AgentLogic::State::attemptFor(const HeldJob& held, const How& how,
                                                         Chooser& with) const {
  Attempt attempt = attemptBy(held, how, with);
  if (attempt.reason.empty() || how.settings.margin == 0) return attempt;
  if (holdsOutForMargin(held.record().spec)) return attempt;
  How without = how;
  without.settings.margin = 0;
  return attemptBy(held, without, with);
}

AgentLogic::State::Attempt AgentLogic::State::attemptBy(const HeldJob& held, const How& how,
                                                        Chooser& with) const {
  const JobSpec& spec = held.record().spec;
  const size_t placeable = held.placeable();
  uint64_t free = copy.state().freeUnits(), freeOfKept = 0;
  for (ServerId server : how.except) {
    const bool counts = copy.state().known(server) && copy.state().vacancy(server).usable;
    freeOfKept += counts ? copy.state().freeUnits(server) : 0;
  }
  free -= freeOfKept;
  const auto slots = static_cast<size_t>(free / spec.rusPerTask);
  // More than what is free cannot be had: it is not worth a sample.
  const bool isGang = spec.schedule == Schedule::kGang;
  const size_t wanted = isGang ? placeable : std::min({placeable, slots, how.atMost});
  const bool sampled = wanted > 0 && wanted <= slots;
  Attempt attempt;
  Decision& decision = attempt.decision;
  if (sampled) {
    PlacementRequest request{.spec = spec, .tasks = held.firstPlaceable(wanted), .placedOn = {}};
    if (spec.placement.spread != Spread::kNone) request.placedOn = held.placedOn();
    request.standard = how.standard;
    request.candidates = how.candidates;
    request.except = how.except;
    decision = with.choose(copy.state(), request, how.settings, how.seed);
    if (lookOn(spec, decision, how)) {
      Rng rng(how.seed);
      request.besides = likely.draw(copy.state(), spec, how.settings, decision.explanation.most, rng);
      if (!request.besides.empty()) decision = with.choose(copy.state(), request, how.settings, how.seed);
    }
  } else {
    decision.explanation.wanted = placeable;
  }
  const size_t placed = decision.claims.size();
  const Units units{.usable = copy.usableUnits(), .free = free - placed * spec.rusPerTask};
  attempt.isCutOff = placed == how.atMost && placed < placeable && units.free >= spec.rusPerTask;
  if (placed < placeable && !attempt.isCutOff) {
    attempt.reason = freeOfKept > 0
                         ? keptForAnother(freeOfKept)
                         : whyWaiting(spec, placeable - placed, units,
                                      sampled && placed < wanted ? &decision.explanation : nullptr);
  }
  return attempt;
}

Commit AgentLogic::State::emptyCommit(const Job& job) const {
  Commit commit;
  commit.job = job.id();
  commit.capacityVersion = capacityVersion;
  commit.judging = judgingFor(job.spec(), settings);
  commit.gang = job.spec().schedule == Schedule::kGang;
  return commit;
}

void AgentLogic::State::send(Job& job, Commit commit, const WaitReason& reason, EventContext& context) {
  commit.waitReason = reason.text;
  job.reportedKind = reason.kind;
  job.reportedAt = context.now;
  job.pendingReason.reset();
  job.isOffered = false;
  context.actions.push_back(SendCommit{inFlight.add(std::move(commit), job.spec(), copy.state())});
}

void AgentLogic::State::noteReason(Job& job, WaitReason reason, Explanation explanation,
                                   EventContext& context) {
  if (reason.kind == job.reportedKind) {
    job.pendingReason.reset();
    return;
  }
  job.pendingReason = PendingReason{
      .reason = std::move(reason), .explanation = std::move(explanation), .capacityVersion = capacityVersion};
  reportReason(job, context);
}

void AgentLogic::State::reportReason(Job& job, EventContext& context) {
  if (context.now < job.reportedAt + kReasonInterval) return;
  PendingReason pendingReason = std::move(*job.pendingReason);
  Commit commit = emptyCommit(job);
  commit.explanation = std::move(pendingReason.explanation);
  commit.capacityVersion = pendingReason.capacityVersion;
  send(job, std::move(commit), pendingReason.reason, context);
}

void AgentLogic::State::refresh(Job& job, EventContext& context) {
  if (job.held.placeable() == 0) {
    job.waitingSince.reset();
    job.toldBound.reset();
    job.late = false;
  } else if (!job.waitingSince) {
    job.waitingSince = context.now;
  }
  const bool free = job.durable && !inFlight.has(job.id());
  if (free && job.held.placeable() == 0) {
    toTry.erase({job.tryNumber, job.id()});
    deferred.erase(job.id());
    job.isToTry = false;
    if (std::exchange(job.isOffered, false)) context.untried.push_back(job.id());
  }
  if (free && job.isToTry) {
    toTry.insert({job.tryNumber, job.id()});
  } else {
    toTry.erase({job.tryNumber, job.id()});
  }
  setTimer(job, free);
  count(job);
}

void AgentLogic::State::setTimer(Job& job, bool free) {
  if (job.due) timers.erase({*job.due, job.id()});
  job.due = job.held.nextDelayEnd();
  auto sooner = [&job](MonotonicTime when) { job.due = job.due ? std::min(*job.due, when) : when; };
  if (free && job.waitingSince && !job.late) sooner(*job.waitingSince + waitBound(job));
  if (free && job.pendingReason && ready()) sooner(job.reportedAt + kReasonInterval);
  if (job.due) timers.insert({*job.due, job.id()});
}

void AgentLogic::State::count(Job& job) {
  const bool waits = job.durable && !inFlight.has(job.id()) && job.held.placeable() > 0;
  if (waits != job.waits) waiting += waits ? 1 : -1;
  job.waits = waits;
  if (job.counted == job.held.hasQueued()) return;
  job.counted = !job.counted;
  uint32_t& jobsOfUser = waitingOfUser[job.held.record().user];
  jobsOfUser += job.counted ? 1 : -1;
  if (jobsOfUser == 0) waitingOfUser.erase(job.held.record().user);
}

}  // namespace tarcil
