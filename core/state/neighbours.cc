#include "core/state/neighbours.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/model/contention.h"
#include "core/model/quality.h"

namespace tarcil {
namespace {

size_t laneOfMost(const Lanes& a, const Lanes& b) {
  size_t lane = 0;
  for (size_t i = 1; i < kResources; ++i) lane = a[i] - b[i] > a[lane] - b[lane] ? i : lane;
  return lane;
}

Slowdown cappedSlowdown(uint8_t excess) {
  return slowdownAt(std::min(excess, static_cast<uint8_t>(kMaxPressure)));
}

// How the newcomer's model has it.
Slowdown slowdownOf(const Newcomer& newcomer, const Slowdowns& each, uint8_t excessOfSum) {
  if (!newcomer.byNeighbours) return cappedSlowdown(excessOfSum);
  return slowdownBy(each, excessOfSum);
}

// Whether a task that is to lose no more than a twentieth is made to. What is within the noise floor may add
// to that, but no further than by it, however many such newcomers come (core/model/residents.h).
bool isBroken(Slowdown before, Slowdown after, uint8_t noiseFloor) {
  if (after == before || after <= slowdownAt(kBorneLoss)) return false;
  const bool isNoise = after - before <= slowdownAt(noiseFloor);
  return !isNoise || after > slowdownAt(static_cast<uint8_t>(std::min(kBorneLoss + noiseFloor, 99)));
}

uint8_t atMost(int32_t value, int32_t most) {
  return static_cast<uint8_t>(std::clamp(value, 0, most));
}

NeighbourGroup neighbourOf(const ResidentGroup& group, const PressureSum& sum, const Pressure& background,
                           const Share& share) {
  Profile profile;
  profile.caused = group.caused;
  profile.tolerated = group.tolerated;
  const JobView view = viewOn(profile, share, 1.0);
  NeighbourGroup made;
  made.onsets.fill(UINT8_MAX);
  made.room.fill(UINT8_MAX);
  made.count = group.count;
  made.isStrict = group.isStrict;
  int excess = 0;
  for (size_t i = 0; i < kResources; ++i) {
    made.presses[i] = atMost(view.caused[i], kMaxPressure);
    made.onsets[i] = onsetOf(view.tolerated[i]);
    if (view.tolerated[i] == kMaxPressure) continue;
    const int32_t others = scaled(sum[i] - group.caused[i], share[i]) + background[i];
    const int32_t room = view.tolerated[i] - others;
    made.room[i] = atMost(room + kMaxPressure, UINT8_MAX - 1);
    excess = std::max(excess, -room);
  }
  made.excess = atMost(excess, kMaxPressure);
  return made;
}

// What no resident explains: it presses, and bears anything.
NeighbourGroup restOf(const ServerStatus& status, const Share& share) {
  PressureSum unexplained = status.sum;
  for (const ResidentGroup& group : status.residents) {
    for (size_t i = 0; i < kResources; ++i) {
      unexplained[i] -= static_cast<int32_t>(group.count) * group.caused[i];
    }
  }
  NeighbourGroup rest;
  rest.onsets.fill(UINT8_MAX);
  rest.room.fill(UINT8_MAX);
  for (size_t i = 0; i < kResources; ++i) {
    rest.presses[i] = atMost(scaled(unexplained[i], share[i]) + status.background[i], kMaxPressure);
  }
  return rest;
}

// What shows of all of them without a look at each.
void summarize(Neighbours& neighbours) {
  for (const NeighbourGroup& group : neighbours.groups) {
    for (size_t i = 0; i < kResources; ++i) {
      neighbours.presses[i] = std::max(neighbours.presses[i], group.presses[i]);
      neighbours.onsets[i] = std::min(neighbours.onsets[i], group.onsets[i]);
      if (group.room[i] == UINT8_MAX) continue;
      neighbours.spare[i] = std::min(neighbours.spare[i], atMost(group.room[i] + group.excess, UINT8_MAX));
    }
  }
}

}  // namespace

Neighbours neighboursOf(const ServerStatus& status, const Share& share) {
  Neighbours neighbours;
  auto& groups = neighbours.groups;
  groups.reserve(status.residents.size() + 1);
  for (const ResidentGroup& group : status.residents) {
    groups.push_back(neighbourOf(group, status.sum, status.background, share));
  }
  const NeighbourGroup rest = restOf(status, share);
  if (rest.presses != Lanes{}) groups.push_back(rest);
  for (NeighbourGroup& one : groups) {
    for (const NeighbourGroup& other : groups) {
      const uint32_t others = &one == &other ? one.count - 1U : other.count;
      one.felt.add(slowdownAt(mostBeyond(other.presses, one.onsets)), others);
    }
  }
  summarize(neighbours);
  return neighbours;
}

Meeting meet(const Newcomer& newcomer, const Neighbours& neighbours, uint8_t excess, uint32_t ownTasks) {
  Meeting meeting;
  alignas(16) Lanes presses = newcomer.raised;
  for (size_t i = 0; ownTasks > 0 && i < kResources; ++i) {
    presses[i] =
        atMost(static_cast<int32_t>(ownTasks + 1) * newcomer.presses[i] + kMaxPressure, UINT8_MAX - 1);
  }
  Slowdowns own;
  const auto breaks = [&](const NeighbourGroup& neighbour, Slowdown before, Slowdown after) {
    if (!newcomer.protects || after == before) return;
    meeting.isForbidden |= !neighbour.isStrict && after > newcomer.mostSlowdown;
    if (!isBroken(before, after, newcomer.noiseFloor)) return;
    meeting.isForbidden |= neighbour.isStrict;
    if (meeting.brokenResource >= 0) return;
    const bool isDirect = mostBeyond(newcomer.presses, neighbour.onsets) > 0;
    meeting.brokenResource = static_cast<int>(isDirect ? laneOfMost(newcomer.presses, neighbour.onsets)
                                                       : laneOfMost(presses, neighbour.room));
  };
  const bool isSlowed = isSlowedBy(newcomer, neighbours), slows = isSlowing(newcomer, neighbours);
  const auto judge = [&](const NeighbourGroup& neighbour) {
    if (isSlowed) {
      own.add(cappedSlowdown(mostBeyond(neighbour.presses, newcomer.margin, newcomer.onsets)),
              neighbour.count);
    }
    const Slowdown byOne = slows ? slowdownAt(mostBeyond(newcomer.presses, neighbour.onsets)) : 0;
    const uint8_t over = mostBeyond(presses, neighbour.room);
    if (byOne == 0 && over <= neighbour.excess) return;
    Slowdowns felt = neighbour.felt;
    felt.add(byOne, ownTasks);
    const Slowdown before = slowdownOf(newcomer, felt, neighbour.excess);
    felt.add(byOne);
    const Slowdown after = slowdownOf(newcomer, felt, over);
    breaks(neighbour, before, after);
    meeting.cost += neighbour.count * (satisfaction(before) - satisfaction(after));
  };
  if (isSlowed || slows || mostBeyond(presses, neighbours.spare) > 0) {
    for (const NeighbourGroup& neighbour : neighbours.groups) judge(neighbour);
  }
  const Slowdown bySelf = slowdownAt(mostBeyond(newcomer.presses, newcomer.onsets));
  if (ownTasks > 0) {
    Slowdowns felt = own;
    felt.add(bySelf, ownTasks - 1);
    const Slowdown before = slowdownOf(newcomer, felt, 0);
    own.add(bySelf, ownTasks);
    const Slowdown after = slowdownOf(newcomer, own, excess);
    if (newcomer.protects && meeting.brokenResource < 0 && isBroken(before, after, newcomer.noiseFloor)) {
      meeting.brokenResource = static_cast<int>(laneOfMost(newcomer.presses, newcomer.onsets));
    }
    meeting.isForbidden |= newcomer.protects && after > before && after > newcomer.mostSlowdown;
    meeting.cost += ownTasks * (satisfaction(before) - satisfaction(after));
  }
  meeting.satisfaction = satisfaction(slowdownOf(newcomer, own, excess));
  return meeting;
}

Glance withNeighbours(const Glance& seen, const Newcomer& newcomer, const Neighbours& neighbours,
                      uint32_t ownTasks) {
  if (newcomer.isUnknown) return seen;
  const Meeting meeting = meet(newcomer, neighbours, seen.excess, ownTasks);
  Glance made = seen;
  made.cost = static_cast<float>(meeting.cost);
  made.isForbidden = meeting.isForbidden;
  if (!newcomer.byNeighbours) return made;
  // Rounded to the nearest hundredth, half down.
  made.excess = static_cast<uint8_t>(kMaxPressure - std::lround(meeting.satisfaction * kMaxPressure));
  if (meeting.brokenResource >= 0 && made.obstacle == Obstacle::kNone) {
    made.obstacle = Obstacle::kNeighbour;
    made.resource = static_cast<uint8_t>(meeting.brokenResource);
  }
  return made;
}

}  // namespace tarcil
