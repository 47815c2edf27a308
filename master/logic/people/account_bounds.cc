#include "master/logic/people/account_bounds.h"

#include <algorithm>

#include "core/base/units.h"

namespace tarcil::master {
namespace {

// Who set the bound, and what to do about it.
std::string remedy(const AccountRecord& account, const std::string& what) {
  return " (set by " + account.changedBy + "); " + what;
}

bool tolerateNothing(const Profile& profile) {
  return std::ranges::any_of(profile.tolerated, [](auto tolerated) { return tolerated == 0; });
}

struct Use {
  uint64_t units = 0, headroom = 0, queued = 0, bytes = 0;
};

Use useOf(const Tables& tables, const AccountRecord& account) {
  Use use;
  for (const auto& [user, jobs] : tables.jobs.users()) {
    if (tables.people.accountOf(user) != &account) continue;
    use.queued += jobs.queued;
    use.bytes += jobs.bytes;
    use.units += static_cast<uint64_t>(tables.jobs.queue().order().unitsOf(jobs.number));
    use.headroom += tables.jobs.countedUnits().headroomOf(jobs.number);
  }
  return use;
}

}  // namespace

std::string whyNotByAccount(const Tables& tables, const JobRecord& record) {
  const AccountRecord* account = tables.people.accountOf(record.user);
  if (account == nullptr) return "";
  const AccountBounds& bounds = account->bounds;
  const JobSpec& spec = record.spec;
  if (spec.priority > bounds.highestPriority) {
    return "priority: is " + std::to_string(spec.priority) + ", and account " + account->name +
           " may have at most " + std::to_string(bounds.highestPriority) +
           remedy(*account, "write no more, or ask an operator");
  }
  if (bounds.mayOptOut) return "";
  if (!spec.protectNeighbours) {
    return "quality.protect_neighbours: is false, which account " + account->name + " does not allow" +
           remedy(*account, "leave it out, or ask an operator");
  }
  if (!spec.profileLookedUp && tolerateNothing(spec.profile)) {
    return "profile.tolerated: is 0 for a resource, which keeps a server empty and which account " +
           account->name + " does not allow" + remedy(*account, "write 1 or more, or ask an operator");
  }
  return "";
}

std::string tooManyOfAccount(const Tables& tables, const JobRecord& record) {
  const AccountRecord* account = tables.people.accountOf(record.user);
  if (account == nullptr) return "";
  const AccountBounds& bounds = account->bounds;
  if (!bounds.waitingTasks && !bounds.specificationBytes) return "";
  const Use use = useOf(tables, *account);
  if (bounds.waitingTasks && use.queued + record.spec.tasks > *bounds.waitingTasks) {
    return "with this job, of " + std::to_string(record.spec.tasks) + " tasks, more than the " +
           std::to_string(*bounds.waitingTasks) + " tasks would wait that account " + account->name +
           " may have waiting" + remedy(*account, kTryAgain);
  }
  const size_t bytes = bytesOf(record);
  if (bounds.specificationBytes && use.bytes + bytes > *bounds.specificationBytes) {
    return "with this job, of " + formatSize(bytes) + ", the unfinished jobs of account " + account->name +
           " would take more than the " + formatSize(*bounds.specificationBytes) +
           " of the master's memory that it may have" + remedy(*account, kTryAgain);
  }
  return "";
}

uint32_t unitsKept(const Tables& tables, const JobSpec& spec, const Server& server) {
  const bool isProtected = spec.isStrict() || tables.settings.ranking == RankBy::kQuality;
  return isProtected ? unitsKept(spec.profile.tolerated, server.share, server.record.facts.rus) : 0;
}

uint64_t UnitsLeft::of(const std::string& user) {
  const AccountRecord* account = tables_.people.accountOf(user);
  if (account == nullptr || !account->bounds.runningUnits) return kUnbounded;
  const auto [left, isNew] = left_.try_emplace(account->name, 0);
  if (isNew) {
    const uint64_t most = *account->bounds.runningUnits;
    left->second = most - std::min(most, useOf(tables_, *account).units);
  }
  return left->second;
}

uint64_t unitsToStart(const Job& job) {
  return uint64_t{job.slotsToStart()} * job.record.spec.rusPerTask;
}

bool mayStart(const Tables& tables, const Job& job) {
  return UnitsLeft(tables).of(job.record.user) >= unitsToStart(job);
}

std::string whyNoUnits(const Tables& tables, const Job& job) {
  const AccountRecord* account = tables.people.accountOf(job.record.user);
  if (account == nullptr || !account->bounds.runningUnits) return "";
  const std::string most = "the " + std::to_string(*account->bounds.runningUnits) + " units that ";
  if (mayStart(tables, job)) {
    return "the tasks of this job would count for more than " + most + "account " + account->name +
           " may hold, with the headroom that they keep" +
           remedy(*account, "protect them less strictly, or ask an operator");
  }
  const uint64_t headroom = useOf(tables, *account).headroom;
  const std::string kept =
      headroom == 0 ? "" : ", " + std::to_string(headroom) + " of them as headroom that strict tasks keep";
  return "account " + account->name + " holds " + most + "it may" + kept +
         remedy(*account, "waits until some are given back");
}

void placeInAccount(Tables& tables, const std::string& user) {
  const AccountRecord* account = tables.people.accountOf(user);
  WaitingOrder& order = tables.jobs.queue().order();
  if (account != nullptr) order.setSharesOfAccount(account->name, account->shares);
  order.setAccount(order.numberOf(user), account == nullptr ? "" : account->name);
}

void placeAllInAccounts(Tables& tables) {
  for (const auto& [user, jobs] : tables.jobs.users()) placeInAccount(tables, user);
  tables.jobs.queue().wakeUntriable();
}

}  // namespace tarcil::master
