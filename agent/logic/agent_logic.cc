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
  State::Turn turn{.now = now.steady, .wall = now.wall, .rng = rng, .actions = actions};
  std::visit([this, &turn](const auto& which) { state_->on(which, turn); }, event);
  state_->finish(turn);
}

void AgentLogic::State::on(const MasterLost&, Turn&) {
  attached = snapshot = false;
}

void AgentLogic::State::on(const ServersUpdated& event, Turn& turn) {
  apply(event.updates, StateCopy::Source::kFeed, turn);
}

void AgentLogic::State::on(const ChecksumTold& event, Turn& turn) {
  // Where answers to commits came before news that were sent earlier, the copy is ahead: the next one will
  // do.
  if (!ready() || copy.isAhead()) return;
  ++comparisons;
  const StateChecksum ours = copy.checksum(inFlight.servers());
  const bool saysFacts = event.checksum.facts != 0;  // a master of an older version does not
  if (ours.statuses == event.checksum.statuses && (!saysFacts || ours.facts == event.checksum.facts)) return;
  ++mismatches;
  startCopyAnew();
  turn.actions.push_back(AskSnapshot{});
}

void AgentLogic::State::startCopyAnew() {
  snapshot = false;
  copy = StateCopy();
  chooser = Chooser();
  copy.state().setContention(settings.contention);
  likely = LikelyServers();
}

void AgentLogic::State::on(const SnapshotComplete&, Turn&) {
  snapshot = true;
  inFlight.layOver(copy.state());
}

void AgentLogic::State::on(const SettingsUpdated& event, Turn&) {
  settings = event.settings;
  copy.state().setContention(settings.contention);
  likely.updateAll(copy.state());
}

void AgentLogic::State::on(const PlatformUpdated& event, Turn&) {
  copy.state().setShare(event.platform, event.share);
  likely.updateAll(copy.state());
}

void AgentLogic::State::on(const QueueTold& event, Turn& turn) {
  pendingPriority = event.pendingPriority;
  wakes = event.wakes;
  kept = event.kept;
  crowded = event.crowded;
  for (const JobId& id : std::exchange(deferred, {})) {
    Job& job = jobs.at(id);
    markToTryWhenFree(job);
    refresh(job, turn);
  }
}

void AgentLogic::State::on(const TurnsGiven& event, Turn& turn) {
  for (const JobId& id : event.jobs) {
    Job* job = find(id);
    if (job == nullptr) {
      turn.untried.push_back(id);
      continue;
    }
    const auto bound = event.bounds.find(id);
    if (bound != event.bounds.end() && job->waitingSince) {
      const Duration told = turn.now - *job->waitingSince + bound->second;
      job->toldBound = std::min(job->toldBound.value_or(told), told);
      job->late = turn.now >= *job->waitingSince + *job->toldBound;
    }
    job->hasTurn = true;
    job->leaves.clear();
    if (const auto mayTake = event.leaveKept.find(id); mayTake != event.leaveKept.end()) {
      std::ranges::set_difference(kept, mayTake->second, std::back_inserter(job->leaves));
    }
    markToTry(*job);
    refresh(*job, turn);
  }
}

void AgentLogic::State::on(const TimerFired&, Turn&) {
  wakeAt.reset();
}

void AgentLogic::State::apply(const std::vector<ServerUpdate>& updates, StateCopy::Source source,
                              Turn& turn) {
  for (const ServerUpdate& update : updates) {
    copy.apply(update, source);
    if (copy.state().known(update.id)) likely.update(copy.state(), update.id);
    if (update.facts) launches.serverKnown(update.id, copy.state(), turn.actions);
  }
}

void AgentLogic::State::finish(Turn& turn) {
  runTimers(turn);
  launches.retry(turn.now, copy.state(), turn.actions);
  if (ready()) {
    tryWaiting(turn);
    admitArrivals(turn);
  } else {
    expireArrivals(turn);
  }
  if (!turn.passed.empty() || !turn.untried.empty()) {
    turn.actions.push_back(PassTurns{.jobs = std::move(turn.passed), .untried = std::move(turn.untried)});
  }
  askToWake(turn);
}

void AgentLogic::State::runTimers(Turn& turn) {
  while (!timers.empty() && timers.begin()->first <= turn.now) {
    Job& job = jobs.at(timers.begin()->second);
    size_t before = job.held.placeable();
    job.held.endDelays(turn.now);
    if (job.held.placeable() > before) markToTryWhenFree(job);
    if (job.waitingSince && !job.late && turn.now >= *job.waitingSince + waitBound(job)) {
      job.late = true;
      markToTryWhenFree(job);
    }
    if (ready() && job.unsaid && !inFlight.has(job.id())) reportReason(job, turn);
    refresh(job, turn);
  }
}

void AgentLogic::State::askToWake(Turn& turn) {
  std::optional<MonotonicTime> next;
  auto sooner = [&next](std::optional<MonotonicTime> when) {
    if (when && (!next || *when < *next)) next = when;
  };
  if (!timers.empty()) sooner(timers.begin()->first);
  sooner(launches.nextRetry());
  if (!ready() && !arrivals.empty()) sooner(arrivals.front().deadline);
  if (ready() && (!arrivals.empty() || !toTry.empty())) sooner(turn.now);
  if (!next || (wakeAt && *wakeAt <= *next)) return;
  wakeAt = next;
  turn.actions.push_back(WakeAt{.when = *next});
}

}  // namespace tarcil
