#include "core/state/occupancy.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/model/quality.h"

namespace tarcil {

PressureSum boundOf(const Pressure& caused, const Pressure& tolerated, const Share& share) {
  Profile profile;
  profile.caused = caused;
  profile.tolerated = tolerated;
  return residentBound(viewOn(profile, share, 1.0));
}

namespace {

auto keyOf(const ResidentGroup& group) {
  return std::tie(group.caused, group.tolerated, group.isStrict);
}

// Where the group of such tasks is, or belongs.
std::vector<ResidentGroup>::iterator groupOf(std::vector<ResidentGroup>& groups, const ResidentGroup& like) {
  return std::ranges::lower_bound(groups, keyOf(like), {}, keyOf);
}

void join(std::vector<ResidentGroup>& groups, const ResidentGroup& one) {
  const auto group = groupOf(groups, one);
  if (group != groups.end() && keyOf(*group) == keyOf(one)) {
    ++group->count;
  } else {
    groups.insert(group, one);
  }
}

void leave(std::vector<ResidentGroup>& groups, const ResidentGroup& one) {
  const auto group = groupOf(groups, one);
  if (--group->count == 0) groups.erase(group);
}

}  // namespace

void layOn(ServerStatus& status, const std::vector<RuIndex>& rus, const Pressure& caused,
           const Pressure& tolerated, const Share& share, bool isStrict) {
  for (RuIndex ru : rus) status.free.erase(ru);
  for (size_t i = 0; i < caused.size(); ++i) status.sum[i] += caused[i];
  tightenBound(status.bound, boundOf(caused, tolerated, share));
  join(status.residents, {caused, tolerated, 1, isStrict});
}

namespace {

ByteResources bytesOf(const Resident& resident, const ServerFacts& facts) {
  return claimed(resident.request, resident.rus.size(), byteSupplyOf(facts));
}

}  // namespace

void occupy(ServerStatus& status, std::vector<Resident>& residents, Resident resident,
            const ServerFacts& facts, const Share& share) {
  layOn(status, resident.rus, resident.caused, resident.tolerated, share, resident.isStrict);
  takeExtras(status.freeExtras, resident.extras);
  status.allocated += bytesOf(resident, facts);
  ++status.version;
  residents.push_back(std::move(resident));
}

void vacate(ServerStatus& status, std::vector<Resident>& residents, AllocationId allocation,
            const ServerFacts& facts, const Share& share) {
  const auto leaving = std::find_if(residents.begin(), residents.end(),
                                    [allocation](const Resident& r) { return r.allocation == allocation; });
  if (leaving == residents.end()) return;
  for (RuIndex ru : leaving->rus) {
    if (ru < facts.rus) status.free.insert(ru);
  }
  returnExtras(status.freeExtras, leaving->extras, facts.extras);
  status.allocated -= bytesOf(*leaving, facts);
  for (size_t i = 0; i < leaving->caused.size(); ++i) status.sum[i] -= leaving->caused[i];
  leave(status.residents, {leaving->caused, leaving->tolerated, 1, leaving->isStrict});
  residents.erase(leaving);
  status.bound = noResidents();
  for (const Resident& left : residents)
    tightenBound(status.bound, boundOf(left.caused, left.tolerated, share));
  ++status.version;
}

void rebuild(ServerStatus& status, const std::vector<Resident>& residents, const ServerFacts& facts,
             const Share& share) {
  status.free = RuSet::all(facts.rus);
  status.freeExtras = allExtras(facts.extras);
  status.sum = {};
  status.allocated = {};
  status.bound = noResidents();
  status.residents.clear();
  for (const Resident& resident : residents) {
    layOn(status, resident.rus, resident.caused, resident.tolerated, share, resident.isStrict);
    takeExtras(status.freeExtras, resident.extras);
    status.allocated += bytesOf(resident, facts);
  }
}

}  // namespace tarcil
