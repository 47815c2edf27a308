#include "core/state/cluster_state.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <utility>

#include "core/model/constraint.h"
#include "core/state/occupancy.h"

namespace tarcil {
namespace {

constexpr int16_t kNoBound = std::numeric_limits<int16_t>::max();

// Bounds of residents are at most 99 + 99 * 256, so that kNoBound is free to mean none.
int16_t packedBound(int32_t bound) {
  return static_cast<int16_t>(std::min<int32_t>(bound, kNoBound));
}

int32_t unpackedBound(int16_t bound) {
  return bound == kNoBound ? kNoResident : bound;
}

ServerSet::Units unitsOf(const Vacancy& vacancy) {
  if (!vacancy.usable) return {};
  return {.usable = vacancy.rus, .free = vacancy.free};
}

}  // namespace

void ClusterState::apply(const ServerUpdate& update) {
  const bool wasKnown = known(update.id);
  if (!wasKnown && !update.facts) return;
  if (update.id >= servers_.size()) grow(size_t{update.id} + 1);
  const bool newer = !wasKnown || update.status.version > details_[update.id].version;
  if (update.facts) takeFacts(update.id, *update.facts);
  if (!overlaid_.empty()) {
    if (const auto it = overlaid_.find(update.id); it != overlaid_.end()) {
      if (newer) it->second.base = update.status;
      // Facts may have moved the server to a platform with another share, which overlays depend on.
      if (newer || update.facts) refresh(update.id, it->second);
      return;
    }
  }
  if (newer) {
    hold(update.id, update.status);
  } else if (update.facts) {
    reform(update.id);
  }
}

void ClusterState::grow(size_t size) {
  if (size > servers_.capacity()) {
    const size_t capacity = size + size / 8;
    servers_.reserve(capacity);
    details_.reserve(capacity);
    vacancies_.reserve(capacity);
    residents_.reserve(capacity);
  }
  servers_.resize(size);
  details_.resize(size);
  vacancies_.resize(size);
  residents_.resize(size);
  if (keepsNeighbours_) neighbours_.resize(size);
}

void ClusterState::takeFacts(ServerId id, const ServerFacts& facts) {
  Vacancy& vacancy = vacancies_[id];
  const bool isNew = !known(id);
  if (!isNew) {
    part(id);
    if (*racks_[vacancy.rack] != facts.rack) std::erase(rackServers_[vacancy.rack], id);
    if (const auto it = byName_.find(servers_[id].name); it != byName_.end() && it->second == id) {
      byName_.erase(it);
    }
  }
  Facts& held = servers_[id];
  if (held.name != facts.name) held.name = texts_.keep(facts.name);
  byName_.insert_or_assign(held.name, id);
  // One monitor's servers register one after the other.
  const std::string_view before = id > 0 ? servers_[id - 1].address : std::string_view();
  if (held.address != facts.address)
    held.address = before == facts.address ? before : texts_.keep(facts.address);
  held.attributes = &*attributes_.insert(facts.attributes).first;
  held.extras = &*extras_.insert(facts.extras).first;
  held.missing = &*missing_.insert(facts.missing).first;
  held.bytes = &*bytes_.insert({facts.memoryBytes, facts.memoryOvercommit, byteSupplyOf(facts)}).first;
  held.cores = facts.cores;
  held.emulated = facts.emulated;
  vacancy.platform = platformNamed(facts.platform);
  const RackId rack = rackNamed(facts.rack);
  if (isNew || rack != vacancy.rack) rackServers_[rack].push_back(id);
  vacancy.rack = rack;
  vacancy.rus = static_cast<uint16_t>(facts.rus);
  if (!details_[id].removed) join(id);
}

void ClusterState::join(ServerId id) {
  if (all_.contains(id)) return;
  const Vacancy& vacancy = vacancies_[id];
  ++platforms_[vacancy.platform].servers;
  all_.join(id, vacancy.platform, unitsOf(vacancy), drawable(id, {}));
  for (KeptSet& kept : kept_) joinIfMeets(id, kept);
}

void ClusterState::part(ServerId id) {
  if (!all_.contains(id)) return;
  const Vacancy& vacancy = vacancies_[id];
  --platforms_[vacancy.platform].servers;
  all_.part(id, vacancy.platform, unitsOf(vacancy));
  for (KeptSet& kept : kept_) {
    if (kept.servers.contains(id)) kept.servers.part(id, vacancy.platform, unitsOf(vacancy));
  }
}

PlatformId ClusterState::platformNamed(const std::string& name) {
  const auto [it, isNew] = platformNumbers_.try_emplace(name, static_cast<PlatformId>(platforms_.size()));
  if (isNew) {
    platforms_.push_back({name});
    ++look_;
  }
  return it->second;
}

RackId ClusterState::rackNamed(const std::string& name) {
  const auto [it, isNew] = rackNumbers_.try_emplace(name, static_cast<RackId>(racks_.size()));
  if (isNew) {
    racks_.push_back(&it->first);
    rackServers_.emplace_back();
  }
  return it->second;
}

void ClusterState::hold(ServerId id, const ServerStatus& status) {
  Details& details = details_[id];
  details.sum = status.sum;
  for (size_t i = 0; i < kResources; ++i) details.bound[i] = packedBound(status.bound[i]);
  details.background = status.background;
  details.up = status.up;
  details.cordoned = status.cordoned;
  details.quarantined = status.quarantined;
  details.removed = status.removed;
  details.version = status.version;
  details.allocated = status.allocated;
  const RuSet::Words& words = status.free.words();
  details.free = words.empty() ? 0 : words[0];
  if (words.size() > 1) {
    moreFree_[id].assign(words.begin() + 1, words.end());
  } else if (!moreFree_.empty()) {
    moreFree_.erase(id);
  }
  if (!status.freeExtras.empty()) {
    freeExtras_[id] = status.freeExtras;
  } else if (!freeExtras_.empty()) {
    freeExtras_.erase(id);
  }
  const Share& share = platforms_[vacancies_[id].platform].share;
  residents_[id] = status.residents;
  if (keepsNeighbours_) neighbours_[id] = neighboursOf(status, share);
  const Vacancy vacancy = vacancyOf(status, vacancies_[id].rus, share, contention_);
  setVacancy(id, vacancy);
  status.removed ? part(id) : join(id);
}

void ClusterState::refresh(ServerId id, const Overlaid& overlaid) {
  ServerStatus status = overlaid.base;
  for (OverlayId overlay : overlaid.overlays) lay(status, overlays_.at(overlay));
  hold(id, status);
}

void ClusterState::reform(ServerId id) {
  if (!known(id)) return;
  if (const auto it = overlaid_.find(id); it != overlaid_.end()) return refresh(id, it->second);
  hold(id, status(id));
}

void ClusterState::setVacancy(ServerId id, const Vacancy& vacancy) {
  Vacancy after = vacancy;
  after.platform = vacancies_[id].platform;
  after.rack = vacancies_[id].rack;
  const ByteSupply& supply = byteSupply(id);
  after.lacksBytes =
      timesFitting(supply.allocatable, details_[id].allocated, after.free * supply.unitShare) == 0;
  const ServerSet::Units before = unitsOf(vacancies_[id]);
  vacancies_[id] = after;
  if (!all_.contains(id)) return;
  all_.change(id, before, unitsOf(after), drawable(id, {}));
  for (KeptSet& kept : kept_) {
    if (!kept.servers.contains(id)) continue;
    kept.servers.change(id, before, unitsOf(after), drawable(id, kept.needs));
  }
}

void ClusterState::setShare(const std::string& platform, const Share& share) {
  const PlatformId number = platformNamed(platform);
  platforms_[number].share = share;
  ++look_;
  for (ServerId id = 0; id < servers_.size(); ++id) {
    if (vacancies_[id].platform == number) reform(id);
  }
}

void ClusterState::setContention(ContentionModel model) {
  if (model == contention_) return;
  contention_ = model;
  for (ServerId id = 0; id < servers_.size(); ++id) reform(id);
}

void ClusterState::prefetchNeighbours(std::span<const ServerId> servers,
                                      std::span<const Newcomer> newcomers) const {
  constexpr size_t kGroups = 16;  // of each server; what follows is brought by the machine itself
  for (const ServerId server : servers) {
    __builtin_prefetch(&neighbours_[server]);
    __builtin_prefetch(&vacancies_[server]);
  }
  for (const ServerId server : servers) {
    const Neighbours& neighbours = neighbours_[server];
    const Newcomer& newcomer = newcomers[vacancies_[server].platform];
    if (!matter(newcomer, neighbours)) continue;
    const std::span<const NeighbourGroup> groups(neighbours.groups.data(), neighbours.groups.size());
    for (const NeighbourGroup& group : groups.first(std::min(groups.size(), kGroups)))
      __builtin_prefetch(&group);
  }
}

void ClusterState::keepNeighbours(bool isOn) {
  if (isOn == keepsNeighbours_) return;
  keepsNeighbours_ = isOn;
  neighbours_.clear();
  neighbours_.resize(isOn ? servers_.size() : 0);
  if (!isOn) return neighbours_.shrink_to_fit();
  for (ServerId id = 0; id < servers_.size(); ++id) reform(id);
}

ClusterState::OverlayId ClusterState::layOver(ServerId id, const std::vector<RuIndex>& rus,
                                              const Profile& profile, const Extras& extras,
                                              const ByteRequest& request) {
  const OverlayId number = nextOverlay_++;
  const Overlay& overlay =
      overlays_.emplace(number, Overlay{id, rus, profile.caused, profile.tolerated, extras, request})
          .first->second;
  ServerStatus laid = status(id);
  Overlaid& overlaid = overlaid_[id];
  if (overlaid.overlays.empty()) overlaid.base = laid;
  overlaid.overlays.push_back(number);
  lay(laid, overlay);
  hold(id, laid);
  return number;
}

void ClusterState::lift(OverlayId number) {
  const auto it = overlays_.find(number);
  if (it == overlays_.end()) return;
  const ServerId id = it->second.server;
  overlays_.erase(it);
  const auto overlaid = overlaid_.find(id);
  std::erase(overlaid->second.overlays, number);
  refresh(id, overlaid->second);
  if (overlaid->second.overlays.empty()) overlaid_.erase(overlaid);
}

void ClusterState::lay(ServerStatus& status, const Overlay& overlay) const {
  const Share& share = platforms_[vacancies_[overlay.server].platform].share;
  layOn(status, overlay.rus, overlay.caused, overlay.tolerated, share);
  takeExtras(status.freeExtras, lowestExtras(status.freeExtras, overlay.extras));
  status.allocated += claimed(overlay.request, overlay.rus.size(), byteSupply(overlay.server));
}

std::optional<ServerId> ClusterState::find(std::string_view name) const {
  const auto it = byName_.find(name);
  if (it == byName_.end()) return std::nullopt;
  return it->second;
}

ServerFacts ClusterState::facts(ServerId id) const {
  const Facts& held = servers_[id];
  const Vacancy& vacancy = vacancies_[id];
  ServerFacts facts;
  facts.name = held.name;
  facts.platform = platforms_[vacancy.platform].name;
  facts.rack = *racks_[vacancy.rack];
  facts.attributes = *held.attributes;
  facts.rus = vacancy.rus;
  facts.extras = *held.extras;
  facts.cores = held.cores;
  facts.memoryBytes = held.bytes->memory;
  facts.memoryOvercommit = held.bytes->memoryOvercommit;
  facts.diskBytes = held.bytes->supply.allocatable.disk;
  facts.address = held.address;
  facts.emulated = held.emulated;
  facts.missing = *held.missing;
  return facts;
}

ServerStatus ClusterState::status(ServerId id) const {
  const Details& details = details_[id];
  ServerStatus status;
  status.version = details.version;
  status.up = details.up;
  status.cordoned = details.cordoned;
  status.quarantined = details.quarantined;
  status.removed = details.removed;
  RuSet::Words words{details.free};
  if (const auto more = moreFree_.find(id); more != moreFree_.end()) {
    words.insert(words.end(), more->second.begin(), more->second.end());
  }
  status.free = RuSet::fromWords(std::move(words));
  if (const auto extras = freeExtras_.find(id); extras != freeExtras_.end()) {
    status.freeExtras = extras->second;
  }
  status.allocated = details.allocated;
  status.sum = details.sum;
  for (size_t i = 0; i < kResources; ++i) status.bound[i] = unpackedBound(details.bound[i]);
  status.background = details.background;
  status.residents = residents_[id];
  return status;
}

Vacancy ClusterState::vacancyWith(ServerId id, const OwnTask& task, uint32_t count) const {
  if (count == 0) return vacancies_[id];
  const Details& details = details_[id];
  const auto tasks = static_cast<int32_t>(count);
  ServerStatus status;
  for (size_t i = 0; i < kResources; ++i) {
    status.sum[i] = details.sum[i] + tasks * task.caused[i];
    status.bound[i] = std::min(unpackedBound(details.bound[i]), task.bound[i]);
  }
  status.background = details.background;
  const Vacancy& now = vacancies_[id];
  Vacancy then = vacancyOf(status, now.rus, platforms_[now.platform].share, contention_);
  const uint32_t taken = count * task.rus;
  then.free = static_cast<uint16_t>(now.free > taken ? now.free - taken : 0);
  then.usable = now.usable;
  then.lacksBytes = now.lacksBytes;
  then.platform = now.platform;
  then.rack = now.rack;
  return then;
}

size_t ClusterState::lowestFree(ServerId id, std::span<RuIndex> units, uint32_t skipped) const {
  size_t count = 0;
  const auto take = [&](uint64_t word, size_t base) {
    for (; word != 0 && count < units.size(); word &= word - 1) {
      if (skipped > 0) {
        --skipped;
      } else {
        units[count++] = static_cast<RuIndex>(base + static_cast<size_t>(std::countr_zero(word)));
      }
    }
  };
  take(details_[id].free, 0);
  if (count == units.size() || moreFree_.empty()) return count;
  if (const auto more = moreFree_.find(id); more != moreFree_.end()) {
    for (size_t w = 0; w < more->second.size(); ++w) take(more->second[w], 64 * (w + 1));
  }
  return count;
}

bool ClusterState::hasExtras(ServerId id, const Extras& extras, uint32_t times) const {
  if (extras.empty()) return true;
  const auto free = freeExtras_.find(id);
  return free != freeExtras_.end() && haveExtras(free->second, extras, times);
}

ByteShortage ClusterState::byteShortage(ServerId id, const ByteRequest& request, uint32_t times) const {
  const ByteSupply& supply = byteSupply(id);
  return shortage(supply.allocatable, details_[id].allocated, claimed(request, request.rus, supply), times);
}

const Share& ClusterState::shareOf(const std::string& platform) const {
  static constexpr Share kFull = fullShare();
  const auto it = platformNumbers_.find(platform);
  return it == platformNumbers_.end() ? kFull : platforms_[it->second].share;
}

std::map<std::string, uint32_t> ClusterState::platforms() const {
  std::map<std::string, uint32_t> counts;
  for (const Platform& platform : platforms_) {
    if (platform.servers > 0) counts[platform.name] = platform.servers;
  }
  return counts;
}

const ServerSet& ClusterState::meeting(const ServerNeeds& needs) const {
  if (needs.empty()) return all_;
  const auto it =
      std::find_if(kept_.begin(), kept_.end(), [&](const KeptSet& kept) { return kept.needs == needs; });
  if (it != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, it);
    return kept_.front().servers;
  }
  if (kept_.size() == kKeptSets) kept_.pop_back();
  KeptSet& kept = kept_.emplace_front();
  kept.needs = needs;
  if (const Constraint* list = listIn(needs.constraints)) {
    for (ServerId id : listedBy(*list)) joinIfMeets(id, kept);
    return kept.servers;
  }
  for (ServerId id = 0; id < servers_.size(); ++id) {
    if (all_.contains(id)) joinIfMeets(id, kept);
  }
  return kept.servers;
}

std::vector<ServerId> ClusterState::listedBy(const Constraint& list) const {
  std::vector<ServerId> ids;
  for (const std::string& value : list.values) {
    if (list.attribute == kServerAttribute) {
      if (const auto id = find(value)) ids.push_back(*id);
    } else if (const auto rack = rackNumbers_.find(value); rack != rackNumbers_.end()) {
      std::ranges::copy(serversIn(rack->second), std::back_inserter(ids));
    }
  }
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::erase_if(ids, [this](ServerId id) { return !all_.contains(id); });
  return ids;
}

void ClusterState::joinIfMeets(ServerId id, KeptSet& kept) const {
  if (!meets(id, kept.needs)) return;
  const Vacancy& vacancy = vacancies_[id];
  kept.servers.join(id, vacancy.platform, unitsOf(vacancy), drawable(id, kept.needs));
}

uint32_t ClusterState::drawable(ServerId id, const ServerNeeds& needs) const {
  const Vacancy& vacancy = vacancies_[id];
  if (!vacancy.usable || !hasExtras(id, needs.extras)) return 0;
  const auto fitting = [&](const ByteResources& each) {
    return timesFitting(byteSupply(id).allocatable, details_[id].allocated, each);
  };
  if (needs.bytes != ByteResources{}) return fitting(needs.bytes) > 0 ? vacancy.free : 0;
  if (!vacancy.lacksBytes) return vacancy.free;
  return static_cast<uint32_t>(std::min<uint64_t>(vacancy.free, fitting(byteSupply(id).unitShare)));
}

std::optional<std::string_view> ClusterState::attribute(ServerId id, const std::string& name) const {
  if (name == "platform") return platforms_[vacancies_[id].platform].name;
  if (name == kRackAttribute) return *racks_[vacancies_[id].rack];
  if (name == kServerAttribute) return servers_[id].name;
  const auto it = servers_[id].attributes->find(name);
  if (it == servers_[id].attributes->end()) return std::nullopt;
  return it->second;
}

bool ClusterState::meets(ServerId id, const ServerNeeds& needs) const {
  const Extras& there = *servers_[id].extras;
  const auto has = [&there](const auto& extra) {
    const auto it = there.find(extra.first);
    return it != there.end() && it->second >= extra.second;
  };
  return timesFitting(byteSupply(id).allocatable, {}, needs.bytes) > 0 &&
         std::all_of(needs.extras.begin(), needs.extras.end(), has) &&
         std::all_of(needs.constraints.begin(), needs.constraints.end(), [&](const Constraint& constraint) {
           return tarcil::meets(constraint, attribute(id, constraint.attribute));
         });
}

}  // namespace tarcil
