// Draws slots for a job and judges them (Tarcil section 3.3): what a decision chooses from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/decide/sample_plan.h"
#include "core/decide/sampler.h"
#include "core/decide/sites.h"
#include "core/decide/spread_count.h"
#include "core/state/explain.h"

namespace tarcil {

constexpr uint8_t at(Dropped reason) {
  return static_cast<uint8_t>(reason);
}

// Memory that consecutive searches reuse.
struct SearchMemory {
  SlotSampler sampler;
  Sites sites;
  std::vector<SlotSampler::Slot> block;
};

// One search. Slots that may be taken stay open in sites(); those that may not close their site with the
// reason. The draws are recorded in the explanation.
class SlotSearch {
 public:
  // `placed` counts the job's tasks that have their slots, including those that get them during the search;
  // no slot is drawn of the servers in `except`, ascending. The arguments outlive the search.
  SlotSearch(const SearchContext& context, const ServerSet& servers, std::span<const ServerId> except,
             const SpreadCount& placed, Rng& rng, SearchMemory& memory, Explanation& explained);

  // --- Named servers. Requires: nothing was drawn yet.

  // Judges the next slot of this server; false where no further one of it may be taken.
  bool offerNext(ServerId server);
  // Judges the server as it is now by the context; all slots of it that may be taken are in the choice from
  // now on, and none of it is drawn. The number of its site; nullopt where it has no slot.
  std::optional<uint32_t> include(ServerId server);

  // --- One of these for the rest

  // Draws `plan.least` slots, and up to `plan.limit` until so many acceptable ones are found that no further
  // draw is worth looking at (SearchContext::goodEnough). Draws more
  // besides for those whose server or rack can take no more tasks. Where the first block shows that
  // acceptable slots are rare, as many slots of the servers that `ask` names, if it is given, are drawn
  // besides and before the rest.
  void sample(const SamplePlan& plan, uint64_t wanted, const AskLikely& ask);
  // Every free slot.
  void scan();
  // Of two slots drawn the one that ranks first; null where neither may be taken.
  Site* betterOfTwo();

  // The number of the server's site, if it has a slot and was not examined before.
  std::optional<uint32_t> lookAnew(ServerId server);

  // --- What was found

  Sites& sites() { return sites_; }
  const SearchContext& context() const { return context_; }
  // Acceptable slots that can be taken together.
  uint64_t found() const { return found_; }
  // Slots that were drawn and not acceptable, by Dropped; Site::kOpen for those that were.
  const std::array<uint32_t, kDropReasons + 1>& counts() const { return counts_; }

 private:
  bool isGoodEnough(const Offer& offer) const { return offer.performance >= context_.goodEnough; }
  bool isExcepted(ServerId server) const { return std::ranges::binary_search(except_, server); }
  void sampleBlock(uint64_t count);
  void drawFrom(std::span<const ServerId> servers, uint64_t wanted);
  void offerSlot(Site& site, bool drawn);
  void offerFirst(Site& site);
  void count(size_t reason, uint32_t slots = 1) { counts_[reason] += slots; }

  const SearchContext& context_;
  const ServerSet& servers_;
  const std::span<const ServerId> except_;
  const SpreadCount& placed_;
  SpreadCount withFound_;  // placed_ and every acceptable slot found
  SlotSampler& sampler_;
  Sites& sites_;
  std::vector<SlotSampler::Slot>& block_;
  Explanation& explained_;
  uint64_t found_ = 0;
  uint64_t goodEnough_ = 0;  // of these
  std::array<uint32_t, kDropReasons + 1> counts_{};
};

}  // namespace tarcil
