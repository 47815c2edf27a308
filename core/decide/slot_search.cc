#include "core/decide/slot_search.h"

#include <algorithm>

namespace tarcil {
namespace {

// Fewest slots drawn after the first block before the search looks again whether it has enough.
constexpr uint64_t kLaterBlock = 8;
// Slots judged in one go: enough to hide the latency of memory, few enough to stay in the nearest cache.
constexpr uint64_t kLargestBlock = 256;
// Most slots drawn in place of those whose server or rack can take no more tasks. Where what is left is a
// smaller part of the cluster than that, some of it may be missed.
constexpr uint64_t kMaxPassedOver = 16'384;
constexpr size_t kPair = 2;

// Why a slot that is good for nothing may not be taken, where tasks of the job have others of its server:
// that memory or disk is short says more.
uint8_t besideOwnTasks(uint8_t reason) {
  const bool isBytes = reason == at(Dropped::kMemory) || reason == at(Dropped::kDisk);
  return isBytes ? reason : at(Dropped::kTaken);
}

}  // namespace

SlotSearch::SlotSearch(const SearchContext& context, const ServerSet& servers,
                       std::span<const ServerId> except, const SpreadCount& placed, Rng& rng,
                       SearchMemory& memory, Explanation& explained)
    : context_(context),
      servers_(servers),
      except_(except),
      placed_(placed),
      withFound_(placed),
      sampler_(memory.sampler),
      sites_(memory.sites),
      block_(memory.block),
      explained_(explained) {
  sites_.start(context);
  sampler_.start(servers, context.state.vacancies(), context.spec.rusPerTask, rng);
  explained_.freeSlots = static_cast<uint32_t>(sampler_.slots());
  for (ServerId server : except_) sampler_.leaveOut(server);
}

bool SlotSearch::offerNext(ServerId server) {
  const auto slot = sampler_.take(server);
  if (!slot) return false;
  Site& site = sites_.look(*slot);
  offerSlot(site, false);
  return site.closed == Site::kOpen;
}

std::optional<uint32_t> SlotSearch::include(ServerId server) {
  const uint32_t units = servers_.free().unitsOf(server);
  if (units < context_.spec.rusPerTask || isExcepted(server)) return std::nullopt;
  const SlotSampler::Slot slot{server, sampler_.number(server)};
  sampler_.leaveOut(server);
  Site& site = sites_.look(slot);
  sites_.judgeAnew(site);
  site.found = units / context_.spec.rusPerTask;
  return slot.number;
}

void SlotSearch::sample(const SamplePlan& plan, uint64_t wanted, const AskLikely& ask) {
  uint64_t fromLikely = 0;
  const auto limit = [&] {
    return plan.limit + std::min<uint64_t>(counts_[at(Dropped::kSpread)], kMaxPassedOver) + fromLikely;
  };
  const auto isDone = [&] {
    return goodEnough_ >= wanted || explained_.allSeen || explained_.drawn >= limit();
  };
  sampleBlock(std::min(plan.least, limit()));
  const bool isRare = counts_[Site::kOpen] < plan.rarity * explained_.drawn;
  if (!isDone() && isRare && ask) {
    const uint32_t before = explained_.drawn;
    drawFrom(ask(plan.limit), wanted);
    fromLikely = explained_.drawn - before;
  }
  while (!isDone()) {
    sampleBlock(std::min(std::max(kLaterBlock, wanted - goodEnough_), limit() - explained_.drawn));
  }
  explained_.enoughFound = found_ >= wanted;
}

void SlotSearch::drawFrom(std::span<const ServerId> servers, uint64_t wanted) {
  for (ServerId server : servers) {
    if (!servers_.contains(server)) continue;
    while (goodEnough_ < wanted) {
      const auto slot = sampler_.take(server);
      if (!slot) break;
      Site& site = sites_.look(*slot);
      offerSlot(site, true);
      ++explained_.drawn;
      if (site.closed != Site::kOpen) break;
    }
  }
}

void SlotSearch::sampleBlock(uint64_t count) {
  const bool isSpread = placed_.isLimited();
  while (count > 0 && !explained_.allSeen) {
    const uint64_t size = std::min(count, kLargestBlock);
    block_.clear();
    sampler_.draw(size, block_);
    explained_.allSeen = block_.size() < size;
    sites_.look(block_);
    for (const SlotSampler::Slot& slot : block_) {
      Site& site = sites_[slot.number];
      const bool first = site.found == 0 && site.closed == Site::kOpen;
      first && !isSpread ? offerFirst(site) : offerSlot(site, true);
    }
    explained_.drawn += static_cast<uint32_t>(block_.size());
    count -= size;
  }
}

// Judges one more slot of the site, on top of those that were found before.
void SlotSearch::offerSlot(Site& site, bool drawn) {
  uint8_t reason = site.closed;
  if (reason == Site::kOpen) {
    Offer later;
    if (site.found != site.picked) later = sites_.offer(site, site.found);
    const Offer& offer = site.found == site.picked ? site.next : later;
    if (placed_.isFull(site.server)) {
      reason = site.closed = at(Dropped::kSpread);
    } else if (!sites_.mayTake(offer)) {
      reason = site.closed = site.found > 0 ? besideOwnTasks(offer.reason) : offer.reason;
    } else {
      ++site.found;
      if (offer.standing != Standing::kAcceptable) {
        const bool wasOnce = site.picked > 0 || site.next.standing == Standing::kAcceptable;
        reason = wasOnce ? at(Dropped::kTaken) : offer.reason;
      } else if (withFound_.isFull(site.server)) {
        // It stays in the choice, since it may be better than those found before it.
        reason = at(Dropped::kSpread);
      } else {
        withFound_.add(site.server);
        ++found_;
        goodEnough_ += isGoodEnough(offer) ? 1 : 0;
      }
    }
  }
  if (drawn) count(reason);
}

// The same for the first slot of a site where the job does not spread, without branches: which slots will do
// cannot be predicted.
void SlotSearch::offerFirst(Site& site) {
  const bool acceptable = site.next.standing == Standing::kAcceptable;
  const uint8_t reason = acceptable ? Site::kOpen : site.next.reason;
  const bool mayTake = sites_.mayTake(site.next);
  site.found = mayTake ? 1 : 0;
  site.closed = mayTake ? Site::kOpen : reason;
  found_ += acceptable ? 1 : 0;
  goodEnough_ += acceptable && isGoodEnough(site.next) ? 1 : 0;
  count(reason);
}

void SlotSearch::scan() {
  block_.clear();
  servers_.free().forEach([this](ServerId server) {
    if (isExcepted(server)) return;
    block_.push_back({server, sampler_.number(server)});
  });
  sites_.look(block_);
  for (Site& site : sites_.all()) {
    if (!site.seen) continue;
    const uint32_t slots = context_.state.freeUnits(site.server) / context_.spec.rusPerTask - site.picked;
    explained_.drawn += slots;
    if (placed_.isFull(site.server)) {
      count(site.closed = at(Dropped::kSpread), slots);
      continue;
    }
    const uint8_t reason = site.picked > 0 ? besideOwnTasks(site.next.reason) : site.next.reason;
    count(site.next.standing == Standing::kAcceptable ? Site::kOpen : reason, slots);
    if (sites_.mayTake(site.next)) site.found = site.picked + slots;
  }
  explained_.limit = explained_.drawn;
  explained_.allSeen = true;
}

Site* SlotSearch::betterOfTwo() {
  std::optional<uint32_t> best;
  block_.clear();
  sampler_.draw(kPair, block_);
  explained_.allSeen = block_.size() < kPair;
  explained_.drawn += static_cast<uint32_t>(block_.size());
  for (const SlotSampler::Slot& slot : block_) {
    Site& site = sites_.look(slot);
    if (!sites_.mayTake(site.next)) {
      count(site.picked > 0 ? besideOwnTasks(site.next.reason) : site.next.reason);
    } else if (placed_.isFull(site.server)) {
      count(at(Dropped::kSpread));
    } else {
      count(Site::kOpen);
      ++site.found;
      if (!best || ranksBefore(site.next, sites_[*best].next, context_.ranking)) best = slot.number;
    }
  }
  return best ? &sites_[*best] : nullptr;
}

std::optional<uint32_t> SlotSearch::lookAnew(ServerId server) {
  if (servers_.free().unitsOf(server) < context_.spec.rusPerTask || isExcepted(server)) return std::nullopt;
  const SlotSampler::Slot slot{server, sampler_.number(server)};
  if (slot.number < sites_.all().size() && sites_[slot.number].seen) return std::nullopt;
  sites_.look(slot);
  return slot.number;
}

}  // namespace tarcil
