#include "master/turns.h"

#include <map>

#include "master/preemption.h"
#include "master/reservation.h"

namespace tarcil::master {
namespace {

// Turns of one batch: enough for several agents to be busy during one round trip.
constexpr size_t kTurnsAtOnce = 32;
// An estimate of the wait takes some ten microseconds.
constexpr Duration kBetweenBounds = std::chrono::seconds(5);
constexpr Duration kTurnPatience = std::chrono::milliseconds(250);

const Agent* ownerAttached(const Tables& tables, const JobId& id) {
  const Job* job = tables.jobs.find(id);
  const auto owner = tables.agents.all().find(job->progress.owner);
  return owner != tables.agents.all().end() && owner->second.session ? &owner->second : nullptr;
}

void publishQueue(Context& context) {
  const WaitingQueue& queue = context.tables.jobs.queue();
  const PublishQueue news{queue.pendingPriority(context.now.wall), queue.wakes()};
  if (news == context.tables.queueTold) return;
  context.tables.queueTold = news;
  context.out.send(news);
}

}  // namespace

void giveTurns(Context& context) {
  Tables& tables = context.tables;
  WaitingQueue& queue = tables.jobs.queue();
  if (tables.servers.takeBetter()) queue.wakeAll();
  updateReservation(context);
  const auto lookUp = [&tables](const JobId& id) -> WaitingQueue::Candidate {
    const Agent* owner = ownerAttached(tables, id);
    return {.whoTries = owner == nullptr ? std::nullopt : std::optional<uint64_t>(*owner->session),
            .units = tables.jobs.find(id)->unitsWanted()};
  };
  std::map<SessionId, std::vector<QueueTurn>> turns;
  for (QueueTurn& turn : queue.giveTurns(kTurnsAtOnce, lookUp)) {
    MonotonicTime& due = tables.jobs.find(turn.job)->boundDue;
    if (context.now.steady < due) {
      turn.unitsAhead.reset();
    } else {
      due = context.now.steady + kBetweenBounds;
    }
    turns[*ownerAttached(tables, turn.job)->session].push_back(std::move(turn));
  }
  publishQueue(context);
  for (auto& [session, jobs] : turns) context.out.send(GiveTurns{session, std::move(jobs)});
  if (!turns.empty()) tables.turnsDue = context.now.steady + kTurnPatience;
  if (!queue.hasTurnsOut()) tables.turnsDue.reset();
}

void endTurns(Context& context, const TurnsPassed& event) {
  const Agent* agent = context.tables.agents.attached(event.session);
  if (agent == nullptr) return;
  WaitingQueue& queue = context.tables.jobs.queue();
  // The job, where nothing got better during its turn.
  const auto end = [&](const JobId& id) -> Job* {
    Job* job = context.tables.jobs.find(id);
    if (job == nullptr || job->progress.owner != agent->record.name) return nullptr;
    const bool isOutdated = queue.isToBeTriedAgain(JobTable::placeOf(*job));
    queue.endTurn(JobTable::placeOf(*job));
    return isOutdated ? nullptr : job;
  };
  for (const JobId& id : event.untried) end(id);
  for (const JobId& id : event.jobs) {
    if (Job* job = end(id)) noteVainTry(context, *job);
  }
}

void noteVainTry(Context& context, Job& job) {
  if (!job.waits()) return;
  context.tables.jobs.queue().noteVain(job.places.kind);
  preemptFor(context, job);
  if (job.record.spec.schedule == Schedule::kGang) doubtReservation(context, job);
}

void endOverdueTurns(Context& context) {
  if (!context.tables.turnsDue || *context.tables.turnsDue > context.now.steady) return;
  context.tables.jobs.queue().endTurns();
}

}  // namespace tarcil::master
