#include "agent/logic/wait_reason.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/units.h"
#include "core/model/constraint.h"
#include "core/model/quality.h"
#include "core/state/extras.h"

namespace tarcil::agent {
namespace {

using std::to_string;

// The resource whose contention, with this margin, exceeds what the job tolerates by most on any of the
// candidates; empty if none does.
std::string_view worstResource(const JobSpec& spec, const Explanation& decision, int margin) {
  int worst = 0;
  std::string_view resource;
  for (const Candidate& candidate : decision.best) {
    for (size_t i = 0; i < kResources; ++i) {
      const int excess = withMargin(candidate.contention[i], margin) - spec.profile.tolerated[i];
      if (excess <= worst) continue;
      worst = excess;
      resource = kResourceNames[i];
    }
  }
  return resource;
}

// Why most of the sampled slots were dropped; if none was sampled, why most of the servers were.
size_t mainReason(const Explanation& decision) {
  const auto& dropped = decision.dropped;
  const auto slots = dropped.begin() + static_cast<std::ptrdiff_t>(Dropped::kSpread);
  auto most = std::max_element(slots, dropped.end());
  if (*most == 0 && decision.drawn == 0) most = std::max_element(dropped.begin(), slots);
  return static_cast<size_t>(*most == 0 ? static_cast<std::ptrdiff_t>(Dropped::kTaken)
                                        : most - dropped.begin());
}

std::string claimText(uint64_t bytes) {
  return bytes > 0 ? formatSize(bytes) : "the share of its units";
}

WaitReason aboutTheRest(const JobSpec& spec, const Explanation& decision) {
  const size_t reason = mainReason(decision);
  const std::string kind = dropName(reason);
  switch (droppedAs(reason)) {
    case Dropped::kConstraint:
      return {kind, "the rest do not meet its constraints"};
    case Dropped::kNotEnoughFree:
      return {kind, "the rest have fewer than " + to_string(spec.rusPerTask) + " units free on one server"};
    case Dropped::kSpread:
      return {kind, "its spread allows no more tasks on the rest"};
    case Dropped::kQuality: {
      const std::string resource(worstResource(spec, decision, 0));
      if (!resource.empty()) return {kind + ":" + resource, resource + " is too contended on the rest"};
      const std::string tight(worstResource(spec, decision, decision.margin));
      if (tight.empty()) return {kind, "the platforms of the rest are too slow for its target"};
      return {kind + ":" + tight + ":margin",
              tight + " leaves less to spare on the rest than the margin of " + to_string(decision.margin) +
                  ", for which it waits up to its max_wait"};
    }
    case Dropped::kNeighbour: {
      const size_t resource = reason - static_cast<size_t>(Dropped::kNeighbour);
      return {kind, "on the rest it would disturb others through " + std::string(kResourceNames[resource])};
    }
    case Dropped::kMemory:
      return {kind,
              "the rest have less memory left than a task claims, " + claimText(spec.limits.memoryBytes)};
    case Dropped::kDisk:
      return {kind, "the rest have less disk left than a task claims, " + claimText(spec.limits.diskBytes)};
    case Dropped::kTaken:
      break;
  }
  return {kind, "the rest are needed for its other tasks"};
}

// "2 are down, 1 is cordoned, 1 is quarantined, as tasks could not be started there; it is tried again
// later".
std::string whyNoServer(const Units& units) {
  std::string states;
  const auto add = [&states](uint32_t servers, const char* word) {
    if (servers == 0) return;
    states += (states.empty() ? "" : ", ") + to_string(servers) + (servers == 1 ? " is " : " are ") + word;
  };
  add(units.down, "down");
  add(units.cordoned, "cordoned");
  add(units.quarantined, "quarantined");
  if (states.empty()) return "no server suits it";
  if (units.quarantined > 0) {
    states += std::string(", as tasks could not be started there; ") +
              (units.quarantined == 1 ? "it is" : "they are") + " tried again later";
  }
  return (units.suitsAll ? "no server takes tasks: " : "no server that suits it takes tasks: ") + states;
}

// What a task of the job claims beside its units.
std::string besideUnits(const JobSpec& spec) {
  std::string text;
  const auto add = [&text](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  if (!spec.extras.empty()) add(inWords(spec.extras));
  if (spec.limits.memoryBytes > 0) add(formatSize(spec.limits.memoryBytes) + " of memory");
  if (spec.limits.diskBytes > 0) add(formatSize(spec.limits.diskBytes) + " of disk");
  return text.empty() ? "its share of memory and disk" : text;
}

std::string percent(double share) {
  return to_string(std::lround(100 * share)) + " %";
}

// Where slots are ranked by worth, and there are some that could be had for a price.
WaitReason notWorthIt(const Explanation& decision, double bestWorth) {
  const uint32_t waiting = decision.waitingJobs;
  return {"worth", "the best of " + to_string(decision.drawn) + " slots sampled is worth " +
                       percent(bestWorth) + " of its best speed to it, less what neighbours would lose; " +
                       percent(decision.price) + " is asked, as " +
                       (waiting == 1 ? "1 job waits" : to_string(waiting) + " jobs wait")};
}

WaitReason afterSampling(const JobSpec& spec, const Decision& made) {
  const Explanation& decision = made.explanation;
  if (decision.price < 1 && decision.acceptable == 0 && made.bestWorth > 0 && made.bestWorth < decision.price)
    return notWorthIt(decision, made.bestWorth);
  WaitReason rest = aboutTheRest(spec, decision);
  return {rest.kind, to_string(decision.acceptable) + " of " + to_string(decision.drawn) +
                         " slots sampled suit it: " + rest.text};
}

}  // namespace

WaitReason whyWaiting(const JobSpec& spec, size_t left, Units units, const Decision* decision) {
  const bool isGang = spec.schedule == Schedule::kGang;
  const std::string gang = isGang ? "waiting for " + to_string(left) + " slots at once (gang); " : "";
  if (units.usable == 0) return {"no_server", gang + whyNoServer(units)};
  const std::string where = units.suitsAll ? "" : " on the servers that suit it";
  if (isGang && units.usable / spec.rusPerTask < left) {
    return {"gang:too_few_usable", gang + "with all that are up and take tasks there are " +
                                       to_string(units.usable / spec.rusPerTask) + where};
  }
  if (units.free == 0 && units.lacking > 0) {
    return {"lacking", gang + to_string(units.lacking) + " units are free" + where +
                           ", but none together with " + besideUnits(spec)};
  }
  if (units.free == 0) {
    return {"no_free_unit", gang + "no free unit" + where + ": " + to_string(units.usable) + " of " +
                                to_string(units.usable) + " are taken"};
  }
  if (decision) {
    WaitReason sampled = afterSampling(spec, *decision);
    return {gang.empty() ? sampled.kind : "gang:" + sampled.kind, gang + sampled.text};
  }
  if (isGang) return {"gang", gang + to_string(units.free / spec.rusPerTask) + " are free" + where};
  return {"too_few_free", to_string(units.free) + " of " + to_string(units.usable) + " units are free" +
                              where + ", a task needs " + to_string(spec.rusPerTask)};
}

WaitReason whyRequiring(const JobSpec& spec, const Decision& decision, Units units) {
  std::string text = "task " + to_string(decision.firstUnmet) + " requires " +
                     describe(*spec.requirementOf(decision.firstUnmet)) + ": ";
  if (decision.unmet > 1)
    text.insert(0, to_string(decision.unmet) + " tasks wait for servers that they require; ");
  units.suitsAll = false;
  if (units.usable == 0) return {"required:no_server", text + whyNoServer(units)};
  if (units.free < spec.rusPerTask) {
    return {"required:too_few_free", text + to_string(units.free) + " of " + to_string(units.usable) +
                                         " units are free there, a task needs " + to_string(spec.rusPerTask)};
  }
  const bool mayBeTaken = spec.schedule == Schedule::kGang && spec.placement.requireOfTask.size() > 1;
  return {"required:none_suits", text + "none of the slots there suits it now" +
                                     (mayBeTaken ? ", or other tasks of the gang need them" : "")};
}

WaitReason atItsConcurrency(const JobSpec& spec) {
  return {"concurrency", "concurrency lets " + to_string(spec.mostAtOnce()) +
                             " of its tasks run at once; the others follow as these end"};
}

WaitReason reservedForAnother(uint64_t units) {
  return {"reserved", to_string(units) + " free unit" + (units == 1 ? " is" : "s are") +
                          " reserved for a job that comes before it, and no other slots are acceptable"};
}

WaitReason waitsForOffer() {
  return {"not_offered", "jobs that have waited longer are tried first"};
}

WaitReason outrun() {
  return {"outrun", "other jobs took the slots found for it first; it is tried again"};
}

}  // namespace tarcil::agent
