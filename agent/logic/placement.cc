#include "agent/logic/placement.h"

#include <algorithm>
#include <limits>

#include "core/decide/margin.h"

namespace tarcil::agent {
namespace {

// Whether the buckets may say where slots are: they do not know which servers meet constraints or have
// extras.
bool areInBuckets(const JobSpec& spec, const PlacementOptions& options) {
  return options.standard == Standard::kAcceptable && spec.placement.constraints.empty() &&
         spec.extras.empty();
}

// Of a task's slot now. A job that has waited for its bound takes whatever gives it more than neighbours
// lose.
double priceFor(const Tables& tables, const JobSpec& spec, Standard standard) {
  if (tables.settings.ranking != RankBy::kWorth) return 1;
  if (standard == Standard::kBestThereIs) return std::numeric_limits<double>::min();
  const ServerSet& all = tables.copy.state().all();
  const double unused =
      static_cast<double>(all.freeUnits()) / static_cast<double>(std::max<uint64_t>(1, all.usableUnits()));
  const double heldUp = tables.queueTold.waitingTasks * unused / tables.utilisation.spare();
  return tables.price.at(heldUp, static_cast<double>(all.usedUnits()) / spec.rusPerTask);
}

// Slots for `wanted` of the job's placeable tasks, the first but for those that require servers.
Decision sample(const Tables& tables, const HeldJob& job, size_t wanted, const PlacementOptions& options,
                Chooser& chooser) {
  const JobSpec& spec = job.record().spec;
  const ClusterState& state = tables.copy.state();
  PlacementRequest request{.spec = spec, .tasks = {}, .placedOn = {}};
  request.atMost = wanted;
  request.tasks =
      spec.placement.requireOfTask.empty() ? job.firstPlaceable(wanted) : job.readyAndRequiring(wanted);
  if (!spec.placement.spread.empty()) request.placedOn = job.placedOn();
  request.standard = options.standard;
  request.candidates = options.candidates;
  request.except = options.except;
  request.price = priceFor(tables, spec, options.standard);
  request.waitingJobs = tables.queueTold.waiting;
  if (areInBuckets(spec, options)) {
    request.ask = [&](size_t servers) {
      Rng rng(options.seed);
      return tables.likely.draw(state, spec, options.settings, servers, rng);
    };
  }
  return chooser.choose(state, request, options.settings, options.seed);
}

// That may be drawn from these servers.
uint64_t unitsOf(std::span<const ServerId> servers, const ServerSet& suitable) {
  uint64_t units = 0;
  for (ServerId server : servers) units += suitable.free().unitsOf(server);
  return units;
}

// Of these servers, of which so many units are free after a decision.
Units unitsAmong(const ServerSet& suitable, const ClusterState& state, uint64_t free) {
  Units units{.usable = suitable.usableUnits(),
              .free = free,
              .lacking = suitable.freeUnits() - suitable.free().units(),
              .suitsAll = suitable.servers() == state.all().servers()};
  if (units.usable > 0) return units;
  for (ServerId id = 0; id < state.size(); ++id) {
    if (!suitable.contains(id)) continue;
    if (!state.isUp(id)) {
      ++units.down;
    } else {
      ++(state.isQuarantined(id) ? units.quarantined : units.cordoned);
    }
  }
  return units;
}

// Why the task that requires servers of its own has no slot.
WaitReason whyUnmet(const JobSpec& spec, const ClusterState& state, const Decision& decision) {
  const std::vector<Constraint>& required = *spec.requirementOf(decision.firstUnmet);
  const ServerSet& suitable = suitableServers(state, spec, required);
  return whyRequiring(spec, decision, unitsAmong(suitable, state, suitable.free().units()));
}

PlacementAttempt attemptOnce(const Tables& tables, const HeldJob& job, const PlacementOptions& options,
                             Chooser& chooser) {
  const JobSpec& spec = job.record().spec;
  const size_t placeable = job.placeable();
  const ServerSet& suitable = suitableServers(tables.copy.state(), spec);
  const uint64_t reserved = unitsOf(options.except, suitable);
  const uint64_t free = suitable.free().units() - reserved;
  const auto slots = static_cast<size_t>(free / spec.rusPerTask);
  // A sample is not worth its cost if too few units are free for a task, or for a whole gang.
  const bool isGang = spec.schedule == Schedule::kGang;
  const size_t wanted = isGang ? placeable : std::min({placeable, slots, options.atMost});
  const bool sampled = wanted > 0 && wanted <= slots;
  PlacementAttempt attempt;
  if (sampled) {
    attempt.decision = sample(tables, job, wanted, options, chooser);
  } else {
    attempt.decision.explanation.wanted = placeable;
  }
  const size_t placed = attempt.decision.claims.size();
  const uint64_t left = free - std::min(free, placed * spec.rusPerTask);
  attempt.isCutOff = placed == options.atMost && placed < placeable && left >= spec.rusPerTask;
  if (placed < placeable && !attempt.isCutOff) {
    const ClusterState& state = tables.copy.state();
    const Decision& decision = attempt.decision;
    if (reserved > 0) {
      attempt.reason = reservedForAnother(reserved);
    } else if (decision.unmet > 0 && (isGang || decision.unmet >= placeable - placed)) {
      attempt.reason = whyUnmet(spec, state, decision);
    } else {
      const Decision* const explained = sampled && placed < wanted ? &decision : nullptr;
      attempt.reason = whyWaiting(spec, placeable - placed,
                                  unitsAmong(suitableServers(state, spec), state, left), explained);
    }
  }
  return attempt;
}

}  // namespace

QualitySettings settingsNow(const Tables& tables) {
  QualitySettings now = tables.settings;
  if (tables.queueTold.crowded) now.margin = 0;
  return now;
}

QualitySettings settingsFor(const Tables& tables, const Job& job) {
  QualitySettings now = settingsNow(tables);
  const bool mayUseReserved =
      job.isOffered && job.reservedForOthers.size() < tables.queueTold.reserved.size();
  if (mayUseReserved) now.margin = 0;
  return now;
}

PlacementAttempt attemptFor(const Tables& tables, const HeldJob& job, const PlacementOptions& options,
                            Chooser& chooser) {
  PlacementAttempt attempt = attemptOnce(tables, job, options, chooser);
  if (attempt.reason.empty() || options.settings.margin == 0) return attempt;
  if (holdsOutForMargin(job.record().spec)) return attempt;
  PlacementOptions withoutMargin = options;
  withoutMargin.settings.margin = 0;
  return attemptOnce(tables, job, withoutMargin, chooser);
}

}  // namespace tarcil::agent
