#include "master/logic/queue/offers.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>

#include "core/decide/margin.h"
#include "master/logic/people/account_bounds.h"
#include "master/logic/queue/preemption.h"
#include "master/logic/queue/reservation.h"

namespace tarcil::master {
namespace {

// Offers of one batch: enough for several agents to be busy during one round trip.
constexpr size_t kMaxOffersAtOnce = 32;
// An estimate of the wait takes some ten microseconds.
constexpr Duration kBoundInterval = std::chrono::seconds(5);
// Jobs ahead that are counted: some hundred microseconds. Of those further back it is too few.
constexpr uint32_t kMaxCounted = 4'096;

const Agent* ownerAttached(const Tables& tables, const JobId& id) {
  const Job* job = tables.jobs.find(id);
  const auto owner = tables.agents.all().find(job->progress.owner);
  return owner != tables.agents.all().end() && owner->second.session ? &owner->second : nullptr;
}

// The session at which an offer would be answered.
const Agent* whoTries(const Tables& tables, const JobId& id) {
  const Agent* owner = ownerAttached(tables, id);
  return owner == nullptr || owner->silent ? nullptr : owner;
}

bool marginLapses(const Tables& tables) {
  return tables.settings.margin > 0 && isCrowded(tables.jobs.queue().size(), tables.servers.size());
}

// To two binary digits: it is told anew where it changed by a third or so, and not with each job.
uint32_t roughly(uint64_t number) {
  constexpr int kDigits = 2;
  const auto count = static_cast<uint32_t>(std::min<uint64_t>(number, UINT32_MAX));
  const int digits = std::bit_width(count);
  return digits <= kDigits ? count : count >> (digits - kDigits) << (digits - kDigits);
}

void publishQueue(EventContext& context) {
  const WaitingQueue& queue = context.tables.jobs.queue();
  PublishQueue news{queue.pendingPriority(queueTime(context)), queue.capacityVersion()};
  news.reserved = queue.reserved();
  news.crowded = marginLapses(context.tables);
  if (context.tables.settings.ranking == RankBy::kWorth) {
    news.waiting = roughly(queue.size());
    news.waitingTasks = roughly(context.tables.jobs.waitingTasks());
  }
  if (news == context.tables.queueTold) return;
  context.tables.queueTold = news;
  context.out.send(news);
}

// For the jobs that may be told anew how long they are to wait.
void countAhead(EventContext& context, std::vector<JobOffer>& offers) {
  const JobTable& jobs = context.tables.jobs;
  std::map<JobId, JobOffer*> asked;
  for (JobOffer& offer : offers) {
    MonotonicTime& due = context.tables.jobs.find(offer.job)->boundDue;
    if (context.now.steady < due) continue;
    due = context.now.steady + kBoundInterval;
    asked.emplace(offer.job, &offer);
  }
  if (asked.empty()) return;
  DemandAhead ahead;
  const auto tell = [&](const JobId& id, JobOffer& offer) {
    offer.slotsAhead = ahead.slotsBefore(jobs.find(id)->wanted());
  };
  jobs.queue().order().walk([&](const QueueKey& next) -> std::optional<uint64_t> {
    if (asked.empty() || ahead.jobs() == kMaxCounted) return std::nullopt;
    if (const auto found = asked.find(next.job); found != asked.end()) {
      tell(next.job, *found->second);
      asked.erase(found);
    }
    const Wanted wanted = jobs.find(next.job)->wanted();
    ahead.add(wanted);
    return wanted.units();
  });
  for (const auto& [id, offer] : asked) tell(id, *offer);
}

}  // namespace

void offerJobs(EventContext& context) {
  Tables& tables = context.tables;
  WaitingQueue& queue = tables.jobs.queue();
  // What found no place by the margin may find one without it.
  const bool judgedMoreKindly = marginLapses(tables) && !tables.queueTold.crowded;
  const bool isBetter = tables.servers.takeBetter();
  if (isBetter || judgedMoreKindly) queue.wakeAll();
  // An account may have given back what others of its jobs wait for.
  if (isBetter && tables.people.boundsUnits()) queue.wakeUntriable();
  updatePreemptions(context);
  updateReservation(context);
  UnitsLeft left(tables);
  const auto lookUp = [&tables, &left](const JobId& id) -> WaitingQueue::Candidate {
    const Agent* owner = whoTries(tables, id);
    const Job& job = *tables.jobs.find(id);
    const bool isTried = owner != nullptr && left.of(job.record.user) >= unitsToStart(job);
    return {.whoTries = isTried ? std::optional<uint64_t>(*owner->session) : std::nullopt,
            .units = job.wanted().units()};
  };
  std::map<SessionId, std::vector<JobOffer>> offers;
  std::vector<JobOffer> given = queue.offerJobs(kMaxOffersAtOnce, lookUp);
  countAhead(context, given);
  for (JobOffer& offer : given) {
    tables.jobs.find(offer.job)->offeredAt = queue.capacityVersion();
    offers[*ownerAttached(tables, offer.job)->session].push_back(std::move(offer));
  }
  publishQueue(context);
  for (auto& [session, jobs] : offers) context.out.send(OfferJobs{session, std::move(jobs)});
  if (!offers.empty()) tables.offersDue = context.now.steady + tables.options.offerTimeout;
  if (!queue.hasOffersOut()) tables.offersDue.reset();
}

void endOffers(EventContext& context, const OffersDeclined& event) {
  noteSignOfLife(context, event.session);
  const Agent* agent = context.tables.agents.attached(event.session);
  if (agent == nullptr) return;
  WaitingQueue& queue = context.tables.jobs.queue();
  // The job, where no capacity appeared while it was offered.
  const auto end = [&](const JobId& id) -> Job* {
    Job* job = context.tables.jobs.find(id);
    if (job == nullptr || job->progress.owner != agent->record.name) return nullptr;
    const bool isOutdated =
        job->offeredAt != queue.capacityVersion() ||  // also where the offer was withdrawn
        queue.isToBeTriedAgain(JobTable::queueKeyOf(*job));
    queue.endOffer(JobTable::queueKeyOf(*job));
    return isOutdated ? nullptr : job;
  };
  for (const JobId& id : event.untried) {
    if (Job* job = end(id)) pauseReservation(context, *job);
  }
  for (const JobId& id : event.jobs) {
    if (Job* job = end(id)) noteFailedAttempt(context, *job);
  }
}

void noteFailedAttempt(EventContext& context, Job& job) {
  if (!job.waits()) return;
  context.tables.jobs.queue().noteFailedAttempt(JobTable::queueKeyOf(job));
  preemptFor(context, job);
  doubtReservation(context, job);
}

void endOverdueOffers(EventContext& context) {
  if (!context.tables.offersDue || *context.tables.offersDue > context.now.steady) return;
  Tables& tables = context.tables;
  for (const JobId& id : tables.jobs.queue().offered()) {
    if (const Agent* owner = ownerAttached(tables, id)) tables.agents.named(owner->record.name).silent = true;
  }
  tables.jobs.queue().withdrawOffers();
}

void noteSignOfLife(EventContext& context, SessionId session) {
  Agent* agent = context.tables.agents.attached(session);
  if (agent != nullptr && std::exchange(agent->silent, false)) context.tables.jobs.queue().wakeUntriable();
}

}  // namespace tarcil::master
