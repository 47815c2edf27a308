#include "master/logic/health/throttling.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "master/logic/health/step_log.h"

namespace tarcil::master {
namespace {

// A cause that weighs less is not worth slowing somebody down for.
constexpr double kWorthThrottling = 0.2;
// Of what is expected: a task that reaches less has lost so much that its neighbour is throttled as far as
// may be.
constexpr double kMuchLost = 0.8;
// A neighbour of one that reaches more keeps this part of what it has, each time.
constexpr double kCautiousPart = 0.25;

bool mayBeThrottled(const Job& neighbour, const Job& suffering) {
  const JobSpec& spec = neighbour.record.spec;
  if (&neighbour == &suffering) return false;
  return spec.yields || (spec.preemptible && spec.priority < suffering.record.spec.priority);
}

using Share = double Throttle::*;

// What is taken from a task that presses on the resource: where its server cannot limit that, the time of its
// cores, without which it does not press.
Share shareFor(Resource resource, const Server& server) {
  const auto can = [&server](const char* limit) {
    return std::ranges::find(server.record.facts.missing, limit) == server.record.facts.missing.end();
  };
  switch (resource) {
    case Resource::kDiskBandwidth:
      return can(kDiskLimit) ? &Throttle::disk : &Throttle::cpu;
    case Resource::kNetworkBandwidth:
      return can(kNetworkLimit) ? &Throttle::network : &Throttle::cpu;
    case Resource::kLlc:
      return can(kCacheLimit) ? &Throttle::cacheWays : &Throttle::cpu;
    case Resource::kMemoryBandwidth:
      return can(kMemoryBandwidthLimit) ? &Throttle::memoryBandwidth : &Throttle::cpu;
    default:
      return &Throttle::cpu;
  }
}

std::string percent(double share) {
  return std::to_string(std::lround(100 * share)) + "%";
}

std::string whatOf(Share share) {
  if (share == &Throttle::disk) return " of their disk traffic";
  if (share == &Throttle::network) return " of their network traffic";
  if (share == &Throttle::cacheWays) return " of the last-level cache";
  if (share == &Throttle::memoryBandwidth) return " of the memory bandwidth";
  return " of the time of their cores";
}

double lowered(double share, const ViolationCase& violation) {
  const bool isMuchLost = partOfExpected(*violation.degraded.violation) < kMuchLost;
  return isMuchLost ? kLeastShare : std::max(kLeastShare, share * kCautiousPart);
}

void tell(EventContext& context, const Server& server, AllocationId allocation, const Throttle& throttle) {
  if (server.session) context.out.send(ThrottleTask{*server.session, allocation, throttle});
}

// A task and what is taken from it.
struct Target {
  Hold hold;
  Share share;
};

// The server's tasks of the job that can be throttled further: where that was refused, by the time of their
// cores.
std::vector<Target> targetsOf(const ViolationCase& violation, const Job& neighbour, Share wanted) {
  std::vector<Target> targets;
  for (const Resident& resident : violation.server.residents) {
    const Hold& hold = *violation.tables.jobs.holder(resident.allocation);
    const TaskRecord& task = hold.job->tasks[hold.task];
    if (hold.job != &neighbour || task.state != RunState::kRunning || task.stopping) continue;
    const ThrottledTask* known = violation.tables.throttles.find(resident.allocation);
    const Share share = known != nullptr && known->isRefused(wanted) ? &Throttle::cpu : wanted;
    if (known != nullptr && (known->isRefused(share) || known->throttle.*share <= kLeastShare)) continue;
    targets.push_back({hold, share});
  }
  return targets;
}

// What the task may still use.
double throttle(ViolationCase& violation, const Target& target) {
  const auto& [hold, share] = target;
  auto& [context, tables, degraded, suffering, job, task, server] = violation;
  const AllocationId allocation = hold.job->tasks[hold.task].allocation;
  const Duration calm = tables.options.adjustingCalm;
  ThrottledTask* known = tables.throttles.find(allocation);
  ThrottledTask& throttled = known != nullptr ? *known : tables.throttles.add(allocation);
  throttled.calm = known == nullptr ? calm : longerCalm(throttled.calm);
  double& left = throttled.throttle.*share;
  left = lowered(left, violation);
  ++tables.adjusted.throttled;
  tables.throttles.due.set(allocation, context.now.steady + throttled.calm);
  tell(context, server, allocation, throttled.throttle);
  logStep(context, *hold.job, hold.task,
          "throttled to " + percent(left) + whatOf(share) + ": it slows down " + titleOf(suffering));
  return left;
}

void preview(ViolationCase& violation, const std::vector<Target>& targets) {
  if (std::exchange(violation.degraded.previewed, true)) return;
  const std::string to = " to " + percent(lowered(1, violation)) + whatOf(targets.front().share);
  logStep(violation, "preview: would throttle " + titleOf(*targets.front().hold.job) + to + ": it " +
                         reasonOf(violation));
  for (const auto& [hold, share] : targets) {
    logStep(violation.context, *hold.job, hold.task,
            "preview: would be throttled" + to + ": it slows down " + titleOf(violation.hold));
  }
}

bool throttleTasks(ViolationCase& violation, const std::vector<Target>& targets) {
  if (targets.empty()) return false;
  if (violation.tables.settings.throttling == Throttling::kPreview) {
    preview(violation, targets);
    return false;
  }
  double least = 1;
  for (const Target& target : targets) least = std::min(least, throttle(violation, target));
  const auto& [hold, share] = targets.front();
  logStep(violation, "throttled " + titleOf(*hold.job) + " to " + percent(least) + whatOf(share) + ": it " +
                         reasonOf(violation));
  return true;
}

}  // namespace

bool throttleNeighbour(ViolationCase& violation) {
  const Tables& tables = violation.tables;
  if (tables.settings.throttling == Throttling::kOff) return false;
  for (const Cause& cause : violation.degraded.violation->causes) {
    if (cause.kind != Cause::Kind::kNeighbour || !cause.resource || cause.weight < kWorthThrottling) continue;
    const Hold* neighbour = tables.jobs.holder(cause.neighbour);
    if (neighbour == nullptr || neighbour->server != violation.hold.server) continue;
    if (!mayBeThrottled(*neighbour->job, violation.job)) continue;
    const Share share = shareFor(*cause.resource, violation.server);
    if (throttleTasks(violation, targetsOf(violation, *neighbour->job, share))) return true;
  }
  return false;
}

bool isThrottled(const Tables& tables, AllocationId allocation) {
  return !throttleOf(tables, allocation).isNone();
}

Throttle throttleOf(const Tables& tables, AllocationId allocation) {
  const ThrottledTask* throttled = tables.throttles.find(allocation);
  return throttled == nullptr ? Throttle{} : throttled->throttle;
}

bool hasViolation(const Tables& tables, const Server& server) {
  return std::ranges::any_of(server.residents, [&tables](const Resident& resident) {
    const DegradedTask* degraded = tables.violations.find(resident.allocation);
    return degraded != nullptr && degraded->violation && !isThrottled(tables, resident.allocation);
  });
}

void takeThrottled(EventContext& context, const TaskThrottled& event) {
  Tables& tables = context.tables;
  const Hold* hold = holderFor(tables, event.allocation, event.session);
  ThrottledTask* throttled = tables.throttles.find(event.allocation);
  if (hold == nullptr || throttled == nullptr || event.status.ok() || throttled->throttle != event.throttle)
    return;
  // It is throttled no more. The time of its cores, where that was not all, is not what was refused: it is
  // taken again.
  const bool isCpuAlone = event.throttle == Throttle{.cpu = event.throttle.cpu};
  for (size_t i = 0; i < kThrottleShares.size(); ++i) {
    if (kThrottleShares[i] == &Throttle::cpu && !isCpuAlone) continue;
    double& share = throttled->throttle.*kThrottleShares[i];
    if (std::exchange(share, 1) < 1) throttled->refused.set(i);
  }
  logStep(context, *hold->job, hold->task, "cannot be throttled: " + event.status.error().message);
  if (throttled->throttle.isNone()) {
    tables.throttles.due.clear(event.allocation);
  } else {
    tell(context, tables.servers.at(hold->server), event.allocation, throttled->throttle);
  }
}

void easeDueThrottles(EventContext& context) {
  Tables& tables = context.tables;
  for (const AllocationId allocation : tables.throttles.due.takeDue(context.now.steady)) {
    ThrottledTask& throttled = *tables.throttles.find(allocation);
    const Hold& hold = *tables.jobs.holder(allocation);
    const Server& server = tables.servers.at(hold.server);
    if (!hasViolation(tables, server)) {
      for (const Share share : kThrottleShares) {
        throttled.throttle.*share = std::min(1.0, 2 * throttled.throttle.*share);
      }
      tell(context, server, allocation, throttled.throttle);
      if (throttled.throttle.isNone()) {
        logStep(context, *hold.job, hold.task, "throttled no more");
        continue;
      }
    }
    tables.throttles.due.set(allocation, context.now.steady + throttled.calm);
  }
}

void resumeThrottles(EventContext& context, const Server& server) {
  for (const Resident& resident : server.residents) {
    if (!isThrottled(context.tables, resident.allocation)) continue;
    tell(context, server, resident.allocation, context.tables.throttles.find(resident.allocation)->throttle);
  }
}

}  // namespace tarcil::master
