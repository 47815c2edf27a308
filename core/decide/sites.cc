#include "core/decide/sites.h"

#include <algorithm>

#include "core/model/profile.h"
#include "core/state/neighbours.h"
#include "core/state/occupancy.h"

namespace tarcil {
namespace {

// Why a slot that looks so is not acceptable, where it is not.
uint8_t reasonAgainst(const Glance& glance) {
  static constexpr Dropped kReasons[] = {Dropped::kQuality,       Dropped::kNotEnoughFree,
                                         Dropped::kNotEnoughFree, Dropped::kNeighbour,
                                         Dropped::kMemory,        Dropped::kDisk};  // by obstacle
  // What hides a neighbour that may be broken for a price leaves its resource behind.
  const int resource = glance.obstacle == Obstacle::kNeighbour ? glance.resource : 0;
  return static_cast<uint8_t>(static_cast<int>(kReasons[static_cast<size_t>(glance.obstacle)]) + resource);
}

// Mixed twice: after one product, neighbouring servers would still come in an order that favours some.
uint32_t chanceOf(ServerId server, uint64_t seed) {
  uint64_t mixed = (server ^ seed) * 0x9e3779b97f4a7c15ULL;
  mixed = (mixed ^ mixed >> 32) * 0xbf58476d1ce4e5b9ULL;
  return static_cast<uint32_t>(mixed >> 32);
}

}  // namespace

void Sites::start(const SearchContext& search) {
  search_ = &search;
  count_ = 0;
  bestWorth_ = 0;
  asksBytes_ = search.spec.byteRequest().bytes != ByteResources{};
  const auto byNeighbours = [](const Newcomer& newcomer) { return newcomer.byNeighbours; };
  looksAtNeighbours_ =
      search.ranking == Ranking::kWorth || std::ranges::any_of(search.job.newcomers, byNeighbours);
}

Site& Sites::look(const SlotSampler::Slot& slot) {
  makeRoom(size_t{slot.number} + 1);
  Site& site = sites_[slot.number];
  if (site.seen) return site;
  const Vacancy& vacancy = search_->state.vacancy(slot.server);
  note(site, slot.server, glance(search_->job.newcomers[vacancy.platform], vacancy));
  return site;
}

void Sites::look(std::span<const SlotSampler::Slot> slots) {
  for (; slots.size() > kTogether; slots = slots.subspan(kTogether)) lookAtSome(slots.first(kTogether));
  lookAtSome(slots);
}

void Sites::lookAtSome(std::span<const SlotSampler::Slot> slots) {
  size_t end = 0;
  for (const SlotSampler::Slot& slot : slots) end = std::max<size_t>(end, slot.number + 1);
  makeRoom(end);
  std::array<ServerId, kTogether> servers;
  std::array<uint32_t, kTogether> numbers;
  size_t count = 0;
  for (const SlotSampler::Slot& slot : slots) {
    Site& site = sites_[slot.number];
    servers[count] = slot.server;
    numbers[count] = slot.number;
    count += site.seen ? 0 : 1;
    site.seen = true;
  }
  if (looksAtNeighbours_) search_->state.prefetchNeighbours({servers.data(), count}, search_->job.newcomers);
  const std::span<Glance> seen(glances_.data(), count);
  glance(search_->job.newcomers, search_->state.vacancies(), {servers.data(), count}, seen);
  for (size_t i = 0; i < count; ++i) note(sites_[numbers[i]], servers[i], seen[i]);
}

// What note() writes need not be cleared before.
void Sites::makeRoom(size_t count) {
  if (count > sites_.size()) sites_.resize(std::max(count, 2 * sites_.size()));
  for (; count_ < count; ++count_) {
    Site& site = sites_[count_];
    site.found = 0;
    site.picked = 0;
    site.closed = Site::kOpen;
    site.seen = false;
  }
}

Offer Sites::offer(const Site& site, uint32_t ownTasks) const {
  return ownTasks == site.picked ? site.next : offerAnew(site, ownTasks);
}

void Sites::pick(Site& site, bool looksOn) {
  ++site.picked;
  if (looksOn) site.next = offerAnew(site, site.picked);
}

Offer Sites::offerAnew(const Site& site, uint32_t ownTasks) const {
  Offer offer;
  fill(offer, newcomerTo(site), judge(site, ownTasks), search_->state.vacancy(site.server));
  offer.taken = static_cast<uint16_t>(offer.taken + ownTasks * search_->spec.rusPerTask);
  offer.preferred = site.next.preferred;
  offer.chance = site.next.chance;
  seal(offer, search_->ranking);
  return offer;
}

Sites::Quality Sites::qualityOf(const Site& site, uint32_t ownTasks) const {
  const Newcomer& newcomer = newcomerTo(site);
  const Glance seen = judge(site, ownTasks);
  return {normalized(qNumerator(newcomer, seen)), satisfaction(newcomer, seen), seen.cost};
}

const Newcomer& Sites::newcomerTo(const Site& site) const {
  return search_->job.newcomers[search_->state.vacancy(site.server).platform];
}

Glance Sites::judge(const Site& site, uint32_t ownTasks) const {
  const ClusterState& state = search_->state;
  const Vacancy& now = state.vacancy(site.server);
  if (ownTasks == 0) {
    Glance seen = lookAtNeighbours(glance(newcomerTo(site), now), site.server, 0);
    lookAtBytes(seen, site.server, 1);
    return seen;
  }
  const OwnTask& own = search_->job.ownTasks[now.platform];
  Glance seen = lookAtNeighbours(glance(newcomerTo(site), state.vacancyWith(site.server, own, ownTasks)),
                                 site.server, ownTasks);
  if (!state.hasExtras(site.server, search_->spec.extras, ownTasks + 1)) {
    seen.obstacle = Obstacle::kNotEnoughFree;
  }
  lookAtBytes(seen, site.server, ownTasks + 1);
  return seen;
}

void Sites::lookAtBytes(Glance& glance, ServerId server, uint32_t tasks) const {
  const bool mayBeShort = asksBytes_ || search_->state.vacancy(server).lacksBytes;
  if (!mayBeShort || !mayBeHad(glance)) return;
  switch (search_->state.byteShortage(server, search_->spec.byteRequest(), tasks)) {
    case ByteShortage::kNone:
      break;
    case ByteShortage::kMemory:
      glance.obstacle = Obstacle::kMemory;
      break;
    case ByteShortage::kDisk:
      glance.obstacle = Obstacle::kDisk;
      break;
  }
}

Glance Sites::lookAtNeighbours(const Glance& seen, ServerId server, uint32_t ownTasks) const {
  if (!looksAtNeighbours_) return seen;
  const Newcomer& newcomer = search_->job.newcomers[search_->state.vacancy(server).platform];
  return withNeighbours(seen, newcomer, search_->state.neighbours(server), ownTasks);
}

void Sites::note(Site& site, ServerId server, Glance glance) {
  glance = lookAtNeighbours(glance, server, 0);
  lookAtBytes(glance, server, 1);
  const Vacancy& vacancy = search_->state.vacancy(server);
  const auto& preferred = search_->preferred;
  site.server = server;
  site.seen = true;
  fill(site.next, search_->job.newcomers[vacancy.platform], glance, vacancy);
  site.next.chance = chanceOf(server, search_->seed);
  site.next.preferred =
      !preferred.empty() && std::find(preferred.begin(), preferred.end(), server) != preferred.end();
  if (search_->ranking == Ranking::kWorth && mayBeHad(glance))
    bestWorth_ = std::max(bestWorth_, site.next.performance);
  seal(site.next, search_->ranking);
}

void Sites::fill(Offer& offer, const Newcomer& newcomer, const Glance& glance, const Vacancy& vacancy) const {
  offer.rus = vacancy.rus;
  offer.taken = static_cast<uint16_t>(vacancy.rus - std::min(vacancy.rus, vacancy.free));
  offer.performance = expectedPerformance(newcomer, glance);
  offer.q = qNumerator(newcomer, glance);
  offer.contention = glance.excess;
  offer.reason = reasonAgainst(glance);
  const bool acceptable = offer.performance >= search_->acceptableFrom;
  const Standing standing = acceptable ? Standing::kAcceptable : Standing::kFeasible;
  offer.standing = glance.obstacle == Obstacle::kNone ? standing : Standing::kInfeasible;
  if (search_->ranking == Ranking::kWorth) byWorth(offer, glance);
}

// What breaks a neighbour by the rule of targets may be had for its price, but of those that are protected;
// and not where nothing is lost by the model (ContentionModel::kMean), so that there is nothing to pay.
bool Sites::mayBeHad(const Glance& glance) const {
  if (glance.obstacle != Obstacle::kNeighbour) return glance.obstacle == Obstacle::kNone;
  return search_->ranking == Ranking::kWorth && !glance.isForbidden && glance.cost > 0;
}

void Sites::byWorth(Offer& offer, const Glance& glance) const {
  // A price covers what neighbours lose, and what the job does; but one that names its own target gets that.
  const bool isTooPoor = search_->spec.target.has_value() && offer.performance < search_->acceptableFrom;
  offer.performance = std::max(0.0, offer.performance - glance.cost);
  if (mayBeHad(glance) && !isTooPoor && offer.performance >= search_->price)
    offer.standing = Standing::kAcceptable;
}

}  // namespace tarcil
