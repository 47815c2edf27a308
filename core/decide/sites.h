// The servers that one decision has examined, and what each of them offers the job next.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/decide/prepared_job.h"
#include "core/decide/ranking.h"
#include "core/decide/sampler.h"
#include "core/model/job.h"
#include "core/state/claim.h"
#include "core/state/cluster_state.h"
#include "core/state/explain.h"
#include "core/state/glance.h"

namespace tarcil {

// A server that was examined.
struct Site {
  static constexpr uint8_t kOpen = kDropReasons;

  Offer next;  // what the slot after those picked offers
  ServerId server = 0;
  uint32_t found = 0;      // slots that may be taken one after the other
  uint16_t picked = 0;     // taken
  uint8_t closed = kOpen;  // why no further slot of it may be taken
  bool seen = false;       // else nothing of the above counts
};

static_assert(sizeof(Site) == 64);

// What is searched for.
struct SearchContext {
  const ClusterState& state;
  const JobSpec& spec;
  const PreparedJob& job;
  double target = 0;          // least S that a claim asks for; 0 where the policy does not look at quality
  double acceptableFrom = 0;  // E; 0 where all that are free count as acceptable
  // Performance from which on no other slot is worth a draw: 0 where any acceptable one will do; kWorth: the
  // best that there can be.
  double goodEnough = 0;
  double price = 1;            // kWorth: of this worth on a slot is acceptable, too
  bool takesFeasible = false;  // slots below that may be taken too
  Ranking ranking = Ranking::kQuality;
  uint64_t seed = 0;                       // of what is left to chance
  const std::vector<ServerId>& preferred;  // servers that hold the job's data
};

// Reuses its memory between decisions.
class Sites {
 public:
  // Forgets every site. The search must stay until the next call.
  void start(const SearchContext& search);

  Ranking ranking() const { return search_->ranking; }

  // The site of this server, which is examined now if it was not before. References are valid until another
  // site is examined for the first time.
  Site& look(const SlotSampler::Slot& slot);

  // The same for many, and quicker: records are prefetched while others are judged.
  void look(std::span<const SlotSampler::Slot> slots);

  // Q and S of the site's slot after so many tasks of this job, and what those there would lose by one more.
  struct Quality {
    double q = 0, s = 0;
    float cost = 0;
  };
  Quality qualityOf(const Site& site, uint32_t ownTasks) const;

  // By the sampler's number, those not `seen` included.
  std::span<Site> all() { return {sites_.data(), count_}; }
  Site& operator[](uint32_t number) { return sites_[number]; }

  // Judges the site's next slot again, by what the search looks for now.
  void judgeAnew(Site& site) const { site.next = offerAnew(site, site.picked); }

  // Takes the site's next slot; site.next is then the one after it, or of no further use unless `looksOn`.
  void pick(Site& site, bool looksOn);

  // What the site's next slot offers once `ownTasks` tasks of this job sit there.
  Offer offer(const Site& site, uint32_t ownTasks) const;

  // Ranking::kWorth: the most that a slot is worth that may be had; 0 where there is none.
  double bestWorth() const { return bestWorth_; }

  bool mayTake(const Offer& offer) const {
    return offer.standing == Standing::kAcceptable ||
           (offer.standing == Standing::kFeasible && search_->takesFeasible);
  }

 private:
  // Slots examined at once: few enough to stay in the nearest cache.
  static constexpr size_t kTogether = 64;

  void makeRoom(size_t count);
  // As look(), for at most kTogether.
  void lookAtSome(std::span<const SlotSampler::Slot> slots);
  void note(Site& site, ServerId server, Glance glance);
  // The same where neighbours are judged one by one; else as it was seen.
  Glance lookAtNeighbours(const Glance& seen, ServerId server, uint32_t ownTasks) const;
  // Adds what only shows beside the vacancy, with so many tasks of this job there.
  void lookAtBytes(Glance& glance, ServerId server, uint32_t tasks) const;
  Offer offerAnew(const Site& site, uint32_t ownTasks) const;
  const Newcomer& newcomerTo(const Site& site) const;
  Glance judge(const Site& site, uint32_t ownTasks) const;
  bool mayBeHad(const Glance& glance) const;
  void byWorth(Offer& offer, const Glance& glance) const;
  void fill(Offer& offer, const Newcomer& newcomer, const Glance& glance, const Vacancy& vacancy) const;

  const SearchContext* search_ = nullptr;
  std::vector<Site> sites_;  // of the largest decision so far
  size_t count_ = 0;         // of them in this one
  double bestWorth_ = 0;
  bool asksBytes_ = false;  // for more or less than the share of its units
  bool looksAtNeighbours_ = false;
  std::array<Glance, kTogether> glances_;
};

}  // namespace tarcil
