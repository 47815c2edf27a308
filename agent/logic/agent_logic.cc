#include "agent/logic/agent_logic.h"

#include <algorithm>
#include <iterator>
#include <variant>

#include "agent/logic/agent_state.h"

namespace tarcil {

using namespace agent;

AgentLogic::AgentLogic(const AgentOptions& options) : state_(std::make_unique<State>(options)) {}
AgentLogic::~AgentLogic() = default;

uint64_t AgentLogic::epoch() const {
  return state_->epoch;
}

AgentLogic::Load AgentLogic::load() const {
  return {.jobs = state_->jobs.size(),
          .waiting = state_->waiting,
          .submissions = state_->arrivals.size(),
          .commits = state_->inFlight.size(),
          .decisions = state_->decisions,
          .comparisons = state_->comparisons,
          .mismatches = state_->mismatches,
          .freeUnits = state_->copy.state().freeUnits()};
}

void AgentLogic::handle(const Event& event, Now now, Rng& rng, std::vector<Action>& actions) {
  State::EventContext context{.now = now.steady, .wall = now.wall, .rng = rng, .actions = actions};
  std::visit([this, &context](const auto& which) { state_->on(which, context); }, event);
  state_->finish(context);
}

void AgentLogic::State::on(const MasterLost&, EventContext&) {
  attached = snapshot = false;
}

void AgentLogic::State::on(const ServersUpdated& event, EventContext& context) {
  apply(event.updates, StateCopy::Source::kFeed, context);
}

void AgentLogic::State::on(const ChecksumTold& event, EventContext& context) {
  // Where answers to commits came before news that were sent earlier, the copy is ahead: the next one will
  // do.
  if (!ready() || copy.isAhead()) return;
  ++comparisons;
  const StateChecksum ours = copy.checksum(inFlight.servers());
  const bool saysFacts = event.checksum.facts != 0;  // a master of an older version does not
  if (ours.statuses == event.checksum.statuses && (!saysFacts || ours.facts == event.checksum.facts)) return;
  ++mismatches;
  startCopyAnew();
  context.actions.push_back(AskSnapshot{});
}

void AgentLogic::State::startCopyAnew() {
  snapshot = false;
  copy = StateCopy();
  chooser = Chooser();
  copy.state().setContention(settings.contention);
  likely = LikelyServers();
}

void AgentLogic::State::on(const SnapshotComplete&, EventContext&) {
  snapshot = true;
  inFlight.layOver(copy.state());
}

void AgentLogic::State::on(const SettingsUpdated& event, EventContext&) {
  settings = event.settings;
  copy.state().setContention(settings.contention);
  likely.updateAll(copy.state());
}

void AgentLogic::State::on(const PlatformUpdated& event, EventContext&) {
  copy.state().setShare(event.platform, event.share);
  likely.updateAll(copy.state());
}

void AgentLogic::State::on(const QueueTold& event, EventContext& context) {
  pendingPriority = event.pendingPriority;
  capacityVersion = event.capacityVersion;
  kept = event.kept;
  crowded = event.crowded;
  for (const JobId& id : std::exchange(deferred, {})) {
    Job& job = jobs.at(id);
    markToTryWhenFree(job);
    refresh(job, context);
  }
}

void AgentLogic::State::on(const JobsOffered& event, EventContext& context) {
  for (const JobId& id : event.jobs) {
    Job* job = find(id);
    if (job == nullptr) {
      context.untried.push_back(id);
      continue;
    }
    const auto bound = event.bounds.find(id);
    if (bound != event.bounds.end() && job->waitingSince) {
      const Duration told = context.now - *job->waitingSince + bound->second;
      job->toldBound = std::min(job->toldBound.value_or(told), told);
      job->late = context.now >= *job->waitingSince + *job->toldBound;
    }
    job->isOffered = true;
    job->leaves.clear();
    if (const auto mayTake = event.leaveKept.find(id); mayTake != event.leaveKept.end()) {
      std::ranges::set_difference(kept, mayTake->second, std::back_inserter(job->leaves));
    }
    markToTry(*job);
    refresh(*job, context);
  }
}

void AgentLogic::State::on(const TimerFired&, EventContext&) {
  wakeAt.reset();
}

void AgentLogic::State::apply(const std::vector<ServerUpdate>& updates, StateCopy::Source source,
                              EventContext& context) {
  for (const ServerUpdate& update : updates) {
    copy.apply(update, source);
    if (copy.state().known(update.id)) likely.update(copy.state(), update.id);
    if (update.facts) launches.serverKnown(update.id, copy.state(), context.actions);
  }
}

void AgentLogic::State::finish(EventContext& context) {
  runTimers(context);
  launches.retry(context.now, copy.state(), context.actions);
  if (ready()) {
    tryWaiting(context);
    admitArrivals(context);
  } else {
    expireArrivals(context);
  }
  if (!context.passed.empty() || !context.untried.empty()) {
    context.actions.push_back(
        DeclineOffers{.jobs = std::move(context.passed), .untried = std::move(context.untried)});
  }
  askToWake(context);
}

void AgentLogic::State::runTimers(EventContext& context) {
  while (!timers.empty() && timers.begin()->first <= context.now) {
    Job& job = jobs.at(timers.begin()->second);
    size_t before = job.held.placeable();
    job.held.endDelays(context.now);
    if (job.held.placeable() > before) markToTryWhenFree(job);
    if (job.waitingSince && !job.late && context.now >= *job.waitingSince + waitBound(job)) {
      job.late = true;
      markToTryWhenFree(job);
    }
    if (ready() && job.pendingReason && !inFlight.has(job.id())) reportReason(job, context);
    refresh(job, context);
  }
}

void AgentLogic::State::askToWake(EventContext& context) {
  std::optional<MonotonicTime> next;
  auto sooner = [&next](std::optional<MonotonicTime> when) {
    if (when && (!next || *when < *next)) next = when;
  };
  if (!timers.empty()) sooner(timers.begin()->first);
  sooner(launches.nextRetry());
  if (!ready() && !arrivals.empty()) sooner(arrivals.front().deadline);
  if (ready() && (!arrivals.empty() || !toTry.empty())) sooner(context.now);
  if (!next || (wakeAt && *wakeAt <= *next)) return;
  wakeAt = next;
  context.actions.push_back(WakeAt{.when = *next});
}

}  // namespace tarcil
