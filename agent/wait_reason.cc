#include "agent/wait_reason.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tarcil::agent {
namespace {

using std::to_string;

// What speaks most against the slots that were turned down.
std::string mostFrequent(const std::map<std::string, uint32_t>& dropped) {
  auto most = std::ranges::max_element(dropped, {}, [](const auto& entry) { return entry.second; });
  return most == dropped.end() ? std::string() : most->first;
}

// The resource that exceeds what the job tolerates by most on any of the candidates; empty where none does:
// then the platforms are too slow.
std::string_view worstResource(const JobSpec& spec, const Explanation& decision) {
  int worst = 0;
  std::string_view resource;
  for (const Candidate& candidate : decision.best) {
    for (size_t i = 0; i < kResources; ++i) {
      int excess = candidate.contention[i] - spec.profile.tolerated[i];
      if (excess <= worst) continue;
      worst = excess;
      resource = kResourceNames[i];
    }
  }
  return resource;
}

// What the rest of the sample lacks. The reasons are those of Explanation::dropped.
WaitReason aboutTheRest(const JobSpec& spec, const Explanation& decision) {
  const std::string reason = mostFrequent(decision.dropped);
  constexpr std::string_view kNeighbour = "neighbour:";
  if (reason == "quality") {
    std::string resource(worstResource(spec, decision));
    if (resource.empty()) return {"quality", "the platforms of the rest are too slow for its target"};
    return {"quality:" + resource, resource + " is too contended on the rest"};
  }
  if (reason.starts_with(kNeighbour)) {
    return {reason, "on the rest it would disturb others through " + reason.substr(kNeighbour.size())};
  }
  if (reason == "constraint") return {reason, "the rest do not meet its constraints"};
  if (reason == "not_enough_free") {
    return {reason, "the rest have fewer than " + to_string(spec.rusPerTask) + " units free on one server"};
  }
  if (reason == "no_extras") return {reason, "the rest have too few of its extras free"};
  if (reason == "spread") return {reason, "its spread allows no more tasks on the rest"};
  return {"taken", "the rest are needed for its other tasks"};
}

WaitReason afterSampling(const JobSpec& spec, const Explanation& decision) {
  const auto suited = static_cast<uint64_t>(std::llround(decision.p * decision.drawn));
  WaitReason rest = aboutTheRest(spec, decision);
  return {rest.kind,
          to_string(suited) + " of " + to_string(decision.drawn) + " slots sampled suit it: " + rest.text};
}

}  // namespace

WaitReason whyWaiting(const JobSpec& spec, size_t left, Units units, const Explanation* decision) {
  const std::string gang =
      spec.schedule == Schedule::kGang ? "waiting for " + to_string(left) + " slots at once (gang); " : "";
  if (units.usable == 0) return {"no_server", "no server is up"};
  if (units.free == 0) {
    return {"no_free_unit", gang + "no free unit: " + to_string(units.usable) + " of " +
                                to_string(units.usable) + " are taken"};
  }
  if (decision) {
    WaitReason sampled = afterSampling(spec, *decision);
    return {gang.empty() ? sampled.kind : "gang:" + sampled.kind, gang + sampled.text};
  }
  const std::string free = to_string(units.free) + " of " + to_string(units.usable) + " units are free";
  if (!gang.empty()) return {"gang", gang + to_string(units.free / spec.rusPerTask) + " are free"};
  return {"too_few_free", free + ", a task needs " + to_string(spec.rusPerTask)};
}

WaitReason outrun() {
  return {"outrun", "others were quicker to take the slots found for it; it is tried again"};
}

}  // namespace tarcil::agent
