#include "master/logic/queue/turns.h"

#include <map>
#include <utility>

#include "core/decide/margin.h"
#include "master/logic/queue/preemption.h"
#include "master/logic/queue/reservation.h"

namespace tarcil::master {
namespace {

// Turns of one batch: enough for several agents to be busy during one round trip.
constexpr size_t kTurnsAtOnce = 32;
// An estimate of the wait takes some ten microseconds.
constexpr Duration kBetweenBounds = std::chrono::seconds(5);
// Jobs ahead that are counted: some hundred microseconds. Of those further back it is too few.
constexpr uint32_t kMostCounted = 4'096;
constexpr Duration kTurnPatience = std::chrono::milliseconds(250);

const Agent* ownerAttached(const Tables& tables, const JobId& id) {
  const Job* job = tables.jobs.find(id);
  const auto owner = tables.agents.all().find(job->progress.owner);
  return owner != tables.agents.all().end() && owner->second.session ? &owner->second : nullptr;
}

// Where a turn would be answered.
const Agent* whoTries(const Tables& tables, const JobId& id) {
  const Agent* owner = ownerAttached(tables, id);
  return owner == nullptr || owner->silent ? nullptr : owner;
}

bool marginLapses(const Tables& tables) {
  return tables.settings.margin > 0 && isCrowded(tables.jobs.queue().size(), tables.servers.size());
}

void publishQueue(Context& context) {
  const WaitingQueue& queue = context.tables.jobs.queue();
  PublishQueue news{queue.pendingPriority(queueTime(context)), queue.wakes()};
  news.kept = queue.kept();
  news.crowded = marginLapses(context.tables);
  if (news == context.tables.queueTold) return;
  context.tables.queueTold = news;
  context.out.send(news);
}

// For the jobs that may be told anew how long they are to wait.
void countAhead(Context& context, std::vector<QueueTurn>& turns) {
  const JobTable& jobs = context.tables.jobs;
  std::map<JobId, QueueTurn*> asked;
  for (QueueTurn& turn : turns) {
    MonotonicTime& due = context.tables.jobs.find(turn.job)->boundDue;
    if (context.now.steady < due) continue;
    due = context.now.steady + kBetweenBounds;
    asked.emplace(turn.job, &turn);
  }
  if (asked.empty()) return;
  Ahead ahead;
  const auto tell = [&](const JobId& id, QueueTurn& turn) {
    turn.slotsAhead = ahead.slotsBefore(jobs.find(id)->wanted());
  };
  jobs.queue().order().walk([&](const Place& next) -> std::optional<uint64_t> {
    if (asked.empty() || ahead.jobs() == kMostCounted) return std::nullopt;
    if (const auto found = asked.find(next.job); found != asked.end()) {
      tell(next.job, *found->second);
      asked.erase(found);
    }
    const Wanted wanted = jobs.find(next.job)->wanted();
    ahead.add(wanted);
    return wanted.units();
  });
  for (const auto& [id, turn] : asked) tell(id, *turn);
}

}  // namespace

void giveTurns(Context& context) {
  Tables& tables = context.tables;
  WaitingQueue& queue = tables.jobs.queue();
  // What found no place by the margin may find one without it.
  const bool judgedMoreKindly = marginLapses(tables) && !tables.queueTold.crowded;
  if (tables.servers.takeBetter() || judgedMoreKindly) queue.wakeAll();
  updatePreemptions(context);
  updateReservation(context);
  const auto lookUp = [&tables](const JobId& id) -> WaitingQueue::Candidate {
    const Agent* owner = whoTries(tables, id);
    return {.whoTries = owner == nullptr ? std::nullopt : std::optional<uint64_t>(*owner->session),
            .units = tables.jobs.find(id)->wanted().units()};
  };
  std::map<SessionId, std::vector<QueueTurn>> turns;
  std::vector<QueueTurn> given = queue.giveTurns(kTurnsAtOnce, lookUp);
  countAhead(context, given);
  for (QueueTurn& turn : given) {
    turns[*ownerAttached(tables, turn.job)->session].push_back(std::move(turn));
  }
  publishQueue(context);
  for (auto& [session, jobs] : turns) context.out.send(GiveTurns{session, std::move(jobs)});
  if (!turns.empty()) tables.turnsDue = context.now.steady + kTurnPatience;
  if (!queue.hasTurnsOut()) tables.turnsDue.reset();
}

void endTurns(Context& context, const TurnsPassed& event) {
  noteSignOfLife(context, event.session);
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
  for (const JobId& id : event.untried) {
    if (Job* job = end(id)) pauseReservation(context, *job);
  }
  for (const JobId& id : event.jobs) {
    if (Job* job = end(id)) noteVainTry(context, *job);
  }
}

void noteVainTry(Context& context, Job& job) {
  if (!job.waits()) return;
  context.tables.jobs.queue().noteFailedAttempt(JobTable::placeOf(job));
  preemptFor(context, job);
  doubtReservation(context, job);
}

void endOverdueTurns(Context& context) {
  if (!context.tables.turnsDue || *context.tables.turnsDue > context.now.steady) return;
  Tables& tables = context.tables;
  for (const JobId& id : tables.jobs.queue().onTurn()) {
    if (const Agent* owner = ownerAttached(tables, id)) tables.agents.named(owner->record.name).silent = true;
  }
  tables.jobs.queue().endTurns();
}

void noteSignOfLife(Context& context, SessionId session) {
  Agent* agent = context.tables.agents.attached(session);
  if (agent != nullptr && std::exchange(agent->silent, false)) context.tables.jobs.queue().wakeUntriable();
}

}  // namespace tarcil::master
