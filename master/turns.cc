#include "master/turns.h"

#include <map>

namespace tarcil::master {
namespace {

// Turns of one batch: enough for several agents to be busy during one round trip.
constexpr size_t kTurnsAtOnce = 32;
constexpr Duration kTurnPatience = std::chrono::milliseconds(250);

const Agent* ownerAttached(const Tables& tables, const JobId& id) {
  const Job* job = tables.jobs.find(id);
  const auto owner = tables.agents.all().find(job->progress.owner);
  return owner != tables.agents.all().end() && owner->second.session ? &owner->second : nullptr;
}

void publishPending(Context& context) {
  const std::optional<uint8_t> pending = context.tables.jobs.queue().pendingPriority();
  if (pending == context.tables.pendingPriority) return;
  context.tables.pendingPriority = pending;
  context.out.send(PublishQueue{pending});
}

}  // namespace

void giveTurns(Context& context) {
  Tables& tables = context.tables;
  WaitingQueue& queue = tables.jobs.queue();
  if (tables.servers.takeBetter()) queue.wakeAll();
  const auto whoTries = [&tables](const JobId& job) -> std::optional<uint64_t> {
    const Agent* owner = ownerAttached(tables, job);
    return owner == nullptr ? std::nullopt : std::optional<uint64_t>(*owner->session);
  };
  std::map<SessionId, std::vector<JobId>> turns;
  for (const JobId& job : queue.giveTurns(kTurnsAtOnce, whoTries)) {
    turns[*ownerAttached(tables, job)->session].push_back(job);
  }
  publishPending(context);
  for (auto& [session, jobs] : turns) context.out.send(GiveTurns{session, std::move(jobs)});
  if (!turns.empty()) tables.turnsDue = context.now.steady + kTurnPatience;
  if (!queue.hasTurnsOut()) tables.turnsDue.reset();
}

void endTurns(Context& context, const TurnsPassed& event) {
  const Agent* agent = context.tables.agents.attached(event.session);
  if (agent == nullptr) return;
  for (const JobId& id : event.jobs) {
    const Job* job = context.tables.jobs.find(id);
    if (job == nullptr || job->progress.owner != agent->record.name) continue;
    context.tables.jobs.queue().endTurn(placeOf(job->record));
  }
}

void endOverdueTurns(Context& context) {
  if (!context.tables.turnsDue || *context.tables.turnsDue > context.now.steady) return;
  context.tables.jobs.queue().endTurns();
}

}  // namespace tarcil::master
