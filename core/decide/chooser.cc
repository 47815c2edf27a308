#include "core/decide/chooser.h"

#include <algorithm>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>

#include "core/decide/packing.h"
#include "core/decide/ranking.h"
#include "core/decide/sampler.h"
#include "core/decide/sites.h"
#include "core/decide/spread.h"

namespace tarcil {
namespace {

// Least slots drawn after the first block before the job looks again whether it has enough.
constexpr uint64_t kLaterBlock = 8;
// Slots judged in one go: enough to hide the latency of memory, few enough to stay in the nearest cache.
constexpr uint64_t kLargestBlock = 256;
// Servers of a rack up to which some are looked at for packing that were not drawn.
constexpr size_t kMaxOfARack = 64;
// Slots drawn per task by the policies that look at load only (Sparrow section 3.1: the power of two
// choices).
constexpr uint64_t kLoadChoices = 2;
// Slots drawn besides because those of domains that can take no more tasks are none to choose from. Of
// domains that have a smaller part of the cluster than that, some may be missed.
constexpr uint64_t kMaxPassedOver = 16'384;

// Up to so many ranked sites are found by insertion.
constexpr size_t kFewRanked = 8;
// Of more, this many times as many as are wanted are gathered before the last of them are let go.
constexpr size_t kRoom = 3;

constexpr uint8_t at(Dropped reason) {
  return static_cast<uint8_t>(reason);
}

// How a policy goes about it.
struct SamplePlan {
  uint64_t least = 0, most = 0;  // draws
  Ranking ranking = Ranking::kQuality;
};

SamplePlan samplePlanOf(const JobSpec& spec, const QualitySettings& settings, uint64_t wanted) {
  switch (spec.policy) {
    case Policy::kRandom:
      return {wanted, wanted, Ranking::kChance};
    case Policy::kPerTask:
    case Policy::kBatch:
      return {kLoadChoices * wanted, kLoadChoices * wanted, Ranking::kLoad};
    case Policy::kQuality:
    case Policy::kGreedy:
    case Policy::kLateBinding:  // decided by monitors; what is asked of it here is asked as of quality
      break;
  }
  const uint64_t most = uint64_t{settings.ratio.value_or(settings.cap)} * wanted;
  return {settings.ratio ? most : std::max<uint64_t>(settings.floor, wanted), most, Ranking::kQuality};
}

// The job's highest performance on a platform of these servers; 0 where there are none.
double bestPlatform(const ServerSet& servers, const PreparedJob& job) {
  double best = 0;
  for (size_t platform = 0; platform < servers.byPlatform().size(); ++platform) {
    if (servers.byPlatform()[platform] > 0) best = std::max(best, job.newcomers[platform].platformFactor);
  }
  return best;
}

// A site on its way to its rank; most comparisons need no look at the site.
struct Ranked {
  uint64_t key;
  uint32_t site;
};

// What decisions use again for its memory.
struct Scratch {
  PreparedJobs prepared;
  SlotSampler sampler;
  Sites sites;
  std::vector<SlotSampler::Slot> block;
  std::vector<Ranked> ranked;
  std::vector<uint32_t> order;  // of sites, the best first
  std::vector<ServerId> preferred;
};

// One decision.
class Choice {
 public:
  Choice(const ClusterState& state, const PlacementRequest& request, const QualitySettings& settings,
         uint64_t seed, Scratch& scratch);

  Decision decide();

 private:
  // --- Finding
  bool isExcepted(ServerId server) const { return std::ranges::binary_search(request_.except, server); }
  void placeByName();
  void offerPreferred();
  void sample();
  void sampleBlock(uint64_t count);
  void scan();
  void offerSlot(Site& site, bool drawn);
  void offerFirst(Site& site);
  // `reason` against slots that were drawn, or Site::kOpen where they are acceptable.
  void count(size_t reason, uint32_t slots = 1) { counts_[reason] += slots; }

  // --- Taking
  void pick();
  void pickPerTask();
  void pickPacked();
  void addOthersOfRack(std::vector<uint32_t>& members);
  // Takes the site's next slot for the task at this position of the request. The slot after it is looked at
  // only where it may be wanted.
  void claim(Site& site, size_t task, bool looksOn = true);
  size_t nextTask();
  bool allPlaced() const { return decision_.claims.size() == request_.tasks.size(); }

  // --- Spreading
  uint32_t domainOf(ServerId server) const;
  bool isFull(const SpreadCounts<uint32_t>& tasks, ServerId server) const {
    return spreads_ && tasks.isFull(domainOf(server));
  }

  // --- Explaining
  Explanation& explanation() { return decision_.explanation; }
  void rankSites(size_t count);
  void explain();
  Candidate candidate(const Site& site) const;

  const ClusterState& state_;
  const PlacementRequest& request_;
  const JobSpec& spec_;
  const QualitySettings& settings_;
  const double target_;
  const ServerSet& servers_;
  const bool spreads_;
  const bool judges_;  // by quality
  SearchContext search_;
  Rng rng_;
  Scratch& scratch_;
  Sites& sites_;
  SamplePlan plan_;
  uint64_t wanted_ = 0;    // tasks to be placed from the sample
  uint64_t found_ = 0;     // acceptable slots that can be taken together
  uint64_t suitable_ = 0;  // claims of acceptable slots
  std::array<uint32_t, kDropReasons + 1> counts_{};
  SpreadCounts<uint32_t> placedIn_;  // tasks that sit somewhere, claims of this decision included
  SpreadCounts<uint32_t> foundIn_;   // the same with every acceptable slot found
  std::vector<bool> done_;           // by position in the request: has its claim; empty while all go in order
  size_t next_ = 0;                  // no task before this position is without a claim
  Decision decision_;
};

Choice::Choice(const ClusterState& state, const PlacementRequest& request, const QualitySettings& settings,
               uint64_t seed, Scratch& scratch)
    : state_(state),
      request_(request),
      spec_(request.spec),
      settings_(settings),
      target_(spec_.target.value_or(settings.target)),
      servers_(spec_.placement.constraints.empty() && spec_.extras.empty()
                   ? state.all()
                   : state.meeting({spec_.placement.constraints, spec_.extras})),
      spreads_(spec_.placement.spread != Spread::kNone),
      judges_(looksAtQuality(spec_.policy)),
      search_{.state = state,
              .spec = spec_,
              .job = scratch.prepared.prepare(state, spec_, judgingFor(spec_, settings)),
              .acceptableFrom = judges_ ? target_ * bestPlatform(servers_, search_.job) : 0,
              .takesFeasible = request.standard == Standard::kBestThereIs,
              .ranking = samplePlanOf(spec_, settings, 0).ranking,
              .seed = seed,
              .preferred = scratch.preferred},
      rng_(seed),
      scratch_(scratch),
      sites_(scratch.sites),
      placedIn_(spec_.placement),
      foundIn_(spec_.placement) {
  scratch_.preferred.clear();
  for (const std::string& name : spec_.placement.prefer) {
    if (const auto server = state.find(name)) scratch_.preferred.push_back(*server);
  }
  sites_.start(search_);
  scratch_.sampler.start(servers_, state.vacancies(), spec_.rusPerTask, rng_);
  explanation().freeServers = scratch_.sampler.servers();
  explanation().freeSlots = static_cast<uint32_t>(scratch_.sampler.slots());
  explanation().seed = seed;
  explanation().wanted = request.tasks.size();
  explanation().confidence = spec_.confidence.value_or(settings.confidence);
  explanation().margin = settings.margin;
  if (!spreads_) return;
  for (ServerId server : request.placedOn) {
    if (state.known(server)) placedIn_.add(domainOf(server));
  }
  foundIn_ = placedIn_;
}

Decision Choice::decide() {
  if (request_.tasks.empty()) return std::move(decision_);
  decision_.claims.reserve(request_.tasks.size());
  for (ServerId server : request_.except) scratch_.sampler.leaveOut(server);
  placeByName();
  wanted_ = request_.tasks.size() - decision_.claims.size();
  plan_ = samplePlanOf(spec_, settings_, wanted_);
  explanation().most = plan_.most;
  if (spec_.policy == Policy::kGreedy) {
    scan();
  } else if (spec_.policy == Policy::kPerTask) {
    pickPerTask();
  } else {
    offerPreferred();
    sample();
  }
  explain();
  if (spec_.placement.pack != Pack::kNone) {
    pickPacked();
  } else {
    pick();
  }
  // These judge slots one by one: only now it shows how many could be taken together.
  if (spec_.policy == Policy::kGreedy || spec_.policy == Policy::kPerTask) {
    explanation().enoughFound = suitable_ == request_.tasks.size();
  }
  if (spec_.schedule == Schedule::kGang && !allPlaced()) decision_.claims.clear();
  explanation().placed = decision_.claims.size();
  return std::move(decision_);
}

// Tasks with servers of their own get the first acceptable slot there.
void Choice::placeByName() {
  const auto& preferences = spec_.placement.preferOfTask;
  if (preferences.empty()) return;
  done_.assign(request_.tasks.size(), false);
  for (size_t task = 0; task < request_.tasks.size(); ++task) {
    const auto named = preferences.find(request_.tasks[task].index);
    if (named == preferences.end()) continue;
    for (const std::string& name : named->second) {
      const auto server = state_.find(name);
      const auto slot = server ? scratch_.sampler.take(*server) : std::nullopt;
      if (!slot) continue;
      Site& site = sites_.look(*slot);
      if (site.next.standing != Standing::kAcceptable || isFull(placedIn_, site.server)) {
        offerSlot(site, false);  // it may still be the best there is
        continue;
      }
      if (spreads_) foundIn_.add(domainOf(site.server));
      ++site.found;
      claim(site, task);
      break;
    }
  }
}

void Choice::offerPreferred() {
  for (ServerId server : scratch_.preferred) {
    for (uint64_t slots = wanted_; slots > 0; --slots) {
      const auto slot = scratch_.sampler.take(server);
      if (!slot) break;
      Site& site = sites_.look(*slot);
      offerSlot(site, false);
      if (site.closed != Site::kOpen) break;
    }
  }
  for (ServerId server : request_.besides) {
    if (!servers_.contains(server)) continue;
    while (found_ < wanted_) {
      const auto slot = scratch_.sampler.take(server);
      if (!slot) break;
      Site& site = sites_.look(*slot);
      offerSlot(site, false);
      if (site.closed != Site::kOpen) break;
    }
  }
}

void Choice::sample() {
  Explanation& explained = explanation();
  const auto most = [this] {
    return plan_.most + std::min<uint64_t>(counts_[at(Dropped::kSpread)], kMaxPassedOver);
  };
  while (explained.drawn < most() && !explained.allSeen) {
    const bool first = explained.drawn == 0;
    if (!first && explained.drawn >= plan_.least && found_ >= wanted_) break;
    const uint64_t missing = wanted_ - std::min(found_, wanted_);
    const uint64_t count = first ? plan_.least : std::max(kLaterBlock, missing);
    sampleBlock(std::min(count, most() - explained.drawn));
    if (first) {
      explained.firstDrawn = explained.drawn;
      explained.firstAcceptable = counts_[Site::kOpen];
    }
  }
  explained.enoughFound = found_ >= wanted_;
}

void Choice::sampleBlock(uint64_t count) {
  std::vector<SlotSampler::Slot>& block = scratch_.block;
  while (count > 0 && !explanation().allSeen) {
    const uint64_t size = std::min(count, kLargestBlock);
    block.clear();
    scratch_.sampler.draw(size, block);
    explanation().allSeen = block.size() < size;
    sites_.look(block);
    for (const SlotSampler::Slot& slot : block) {
      Site& site = sites_[slot.number];
      const bool first = site.found == 0 && site.closed == Site::kOpen;
      first && !spreads_ ? offerFirst(site) : offerSlot(site, true);
    }
    explanation().drawn += static_cast<uint32_t>(block.size());
    count -= size;
  }
}

// Every server that has a slot, with all of its slots.
void Choice::scan() {
  std::vector<SlotSampler::Slot>& block = scratch_.block;
  block.clear();
  servers_.free().forEach([&](ServerId server) {
    if (isExcepted(server)) return;
    block.push_back({server, scratch_.sampler.number(server)});
  });
  sites_.look(block);
  Explanation& explained = explanation();
  for (Site& site : sites_.all()) {
    if (!site.seen) continue;
    const uint32_t slots = state_.freeUnits(site.server) / spec_.rusPerTask - site.picked;
    explained.drawn += slots;
    if (isFull(placedIn_, site.server)) {
      count(site.closed = at(Dropped::kSpread), slots);
      continue;
    }
    const uint8_t reason = site.picked > 0 ? at(Dropped::kTaken) : site.next.reason;
    count(site.next.standing == Standing::kAcceptable ? Site::kOpen : reason, slots);
    if (sites_.mayTake(site.next)) site.found = site.picked + slots;
  }
  explained.firstDrawn = explained.drawn;
  explained.firstAcceptable = counts_[Site::kOpen];
  explained.most = explained.drawn;
  explained.allSeen = true;
}

// Judges one more slot of the site, on top of those that were found before.
void Choice::offerSlot(Site& site, bool drawn) {
  uint8_t reason = site.closed;
  if (reason == Site::kOpen) {
    Offer later;
    if (site.found != site.picked) later = sites_.offer(site, site.found);
    const Offer& offer = site.found == site.picked ? site.next : later;
    if (isFull(placedIn_, site.server)) {
      reason = site.closed = at(Dropped::kSpread);
    } else if (!sites_.mayTake(offer)) {
      reason = site.closed = site.found > 0 ? at(Dropped::kTaken) : offer.reason;
    } else {
      ++site.found;
      if (offer.standing != Standing::kAcceptable) {
        const bool wasOnce = site.picked > 0 || site.next.standing == Standing::kAcceptable;
        reason = wasOnce ? at(Dropped::kTaken) : offer.reason;
      } else if (isFull(foundIn_, site.server)) {
        // It stays in the choice, since it may be better than those found before it.
        reason = at(Dropped::kSpread);
      } else {
        if (spreads_) foundIn_.add(domainOf(site.server));
        ++found_;
      }
    }
  }
  if (drawn) count(reason);
}

// The same for the first slot of a site where no spreading matters, in selects: which slots will do cannot be
// foretold.
void Choice::offerFirst(Site& site) {
  const bool acceptable = site.next.standing == Standing::kAcceptable;
  const uint8_t reason = acceptable ? Site::kOpen : site.next.reason;
  const bool mayTake = sites_.mayTake(site.next);
  site.found = mayTake ? 1 : 0;
  site.closed = mayTake ? Site::kOpen : reason;
  found_ += acceptable ? 1 : 0;
  count(reason);
}

// Fills scratch_.order with the best `count` sites, in order: those that may be taken come before all others.
void Choice::rankSites(size_t count) {
  std::vector<Ranked>& ranked = scratch_.ranked;
  ranked.clear();
  const auto before = [this](const Ranked& a, const Ranked& b) {
    if (a.key != b.key) return a.key < b.key;
    return ranksBefore(sites_[a.site].next, sites_[b.site].next, plan_.ranking);
  };
  uint64_t worst = UINT64_MAX;
  for (uint32_t number = 0; number < sites_.all().size(); ++number) {
    const Site& site = sites_[number];
    if (!site.seen || site.closed == at(Dropped::kSpread)) continue;
    const Ranked entry{site.next.key, number};
    if (count > kFewRanked) {
      // Most of many are turned away by their key once some were found to be among the last.
      if (entry.key > worst) continue;
      ranked.push_back(entry);
      if (ranked.size() == kRoom * count) {
        const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(count);
        std::nth_element(ranked.begin(), end, ranked.end(), before);
        worst = end->key;
        ranked.erase(end, ranked.end());
      }
      continue;
    }
    // Few are wanted: most sites are compared once, with the last of them.
    if (ranked.size() == count) {
      if (!before(entry, ranked.back())) continue;
      ranked.pop_back();
    }
    ranked.push_back(entry);
    for (size_t i = ranked.size() - 1; i > 0 && before(ranked[i], ranked[i - 1]); --i) {
      std::swap(ranked[i], ranked[i - 1]);
    }
  }
  if (count > kFewRanked) {
    const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(count, ranked.size()));
    if (end != ranked.end()) std::nth_element(ranked.begin(), end, ranked.end(), before);
    std::sort(ranked.begin(), end, before);
    ranked.erase(end, ranked.end());
  }
  scratch_.order.clear();
  for (const Ranked& entry : ranked) {
    scratch_.order.push_back(entry.site);
    state_.callUp(sites_[entry.site].server);
  }
}

// The ranked sites suffice: each of them is taken at most once before it is ranked again.
void Choice::pick() {
  const auto later = [this](uint32_t a, uint32_t b) {
    return ranksBefore(sites_[b].next, sites_[a].next, plan_.ranking);
  };
  std::vector<uint32_t>& heap = scratch_.order;
  std::erase_if(heap, [this](uint32_t number) {
    const Site& site = sites_[number];
    return site.picked == site.found || !sites_.mayTake(site.next);
  });
  std::make_heap(heap.begin(), heap.end(), later);
  while (!allPlaced() && !heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    Site& site = sites_[heap.back()];
    if (!isFull(placedIn_, site.server)) {
      claim(site, nextTask(), site.picked + 1U < site.found);
      if (site.picked < site.found && sites_.mayTake(site.next)) {
        std::push_heap(heap.begin(), heap.end(), later);
        continue;
      }
    }
    heap.pop_back();
  }
}

// For each task the better of two slots, with the job's tasks before it in place. Where all slots were drawn
// before all tasks had theirs, pick() goes on with those that were not taken.
void Choice::pickPerTask() {
  Explanation& explained = explanation();
  while (!allPlaced() && !explained.allSeen) {
    std::optional<uint32_t> best;
    scratch_.block.clear();
    scratch_.sampler.draw(kLoadChoices, scratch_.block);
    explained.allSeen = scratch_.block.size() < kLoadChoices;
    explained.drawn += static_cast<uint32_t>(scratch_.block.size());
    for (const SlotSampler::Slot& slot : scratch_.block) {
      Site& site = sites_.look(slot);
      if (!sites_.mayTake(site.next)) {
        count(site.picked > 0 ? at(Dropped::kTaken) : site.next.reason);
      } else if (isFull(placedIn_, site.server)) {
        count(at(Dropped::kSpread));
      } else {
        count(Site::kOpen);
        ++site.found;
        if (!best || ranksBefore(site.next, sites_[*best].next, plan_.ranking)) best = slot.number;
      }
    }
    if (best) claim(sites_[*best], nextTask());
  }
  explained.firstDrawn = explained.drawn;
  explained.firstAcceptable = counts_[Site::kOpen];
}

void Choice::pickPacked() {
  std::vector<uint32_t> drawn;
  for (uint32_t number = 0; number < sites_.all().size(); ++number) {
    if (sites_[number].seen && sites_.mayTake(sites_[number].next)) drawn.push_back(number);
  }
  std::vector<std::vector<uint32_t>> neighbourhoods;
  if (spec_.placement.pack == Pack::kServer) {
    for (uint32_t number : drawn) neighbourhoods.push_back({number});
  } else {
    std::unordered_map<RackId, size_t> racks;
    for (uint32_t number : drawn) {
      const RackId rack = state_.vacancy(sites_[number].server).rack;
      const auto [it, isNew] = racks.try_emplace(rack, neighbourhoods.size());
      if (isNew) neighbourhoods.emplace_back();
      neighbourhoods[it->second].push_back(number);
    }
    for (auto& members : neighbourhoods) addOthersOfRack(members);
  }
  const auto room = [this](ServerId server) {
    return spreads_ ? placedIn_.room(domainOf(server)) : UINT32_MAX;
  };
  while (!allPlaced()) {
    Group best;
    for (const auto& members : neighbourhoods) {
      Group group = bestGroup(sites_, members, request_.tasks.size() - decision_.claims.size(), room);
      if (!group.slots.empty() && (best.slots.empty() || group.ranksBefore(best))) best = std::move(group);
    }
    if (best.slots.empty()) break;
    for (uint32_t number : best.slots) {
      if (!isFull(placedIn_, sites_[number].server)) claim(sites_[number], nextTask());
    }
  }
}

// Beside these drawn sites of one rack, the servers there that were not looked at yet; up to a bound in all.
void Choice::addOthersOfRack(std::vector<uint32_t>& members) {
  const RackId rack = state_.vacancy(sites_[members.front()].server).rack;
  for (ServerId server : state_.serversIn(rack)) {
    if (members.size() >= kMaxOfARack) break;
    if (servers_.free().unitsOf(server) < spec_.rusPerTask || isExcepted(server)) continue;
    const SlotSampler::Slot slot{server, scratch_.sampler.number(server)};
    if (slot.number < sites_.all().size() && sites_[slot.number].seen) continue;
    sites_.look(slot);
    members.push_back(slot.number);
  }
}

size_t Choice::nextTask() {
  while (next_ < done_.size() && done_[next_]) ++next_;
  return next_++;
}

void Choice::claim(Site& site, size_t task, bool looksOn) {
  const PlacementRequest::Task& placed = request_.tasks[task];
  Claim& claim = decision_.claims.emplace_back();
  claim.task = placed.index;
  claim.attempt = placed.attempt;
  claim.server = site.server;
  claim.rus = spec_.rusPerTask;
  claim.preferred.resize(spec_.rusPerTask);
  state_.lowestFree(site.server, claim.preferred, site.picked * spec_.rusPerTask);
  claim.versionSeen = state_.version(site.server);
  const Sites::Quality quality = sites_.qualityOf(site, site.picked);
  claim.q = quality.q;
  claim.s = quality.s;
  claim.floor = judges_ ? std::min(target_, claim.s) : 0;
  if (!done_.empty()) done_[task] = true;
  if (spreads_) placedIn_.add(domainOf(site.server));
  if (site.next.standing == Standing::kAcceptable) ++suitable_;
  sites_.pick(site, looksOn);
}

uint32_t Choice::domainOf(ServerId server) const {
  return spreadDomain(spec_.placement, server, state_.vacancy(server).rack);
}

void Choice::explain() {
  Explanation& explained = explanation();
  explained.acceptable = counts_[Site::kOpen];
  std::copy_n(counts_.begin(), kDropReasons, explained.dropped.begin());
  explained.dropped[at(Dropped::kConstraint)] = state_.all().servers() - servers_.servers();
  explained.dropped[at(Dropped::kNotEnoughFree)] += servers_.free().serversBelow(spec_.rusPerTask);
  // Sites that tasks with servers of their own have used up are among them.
  rankSites(spreads_ ? sites_.all().size() : std::max<size_t>(request_.tasks.size(), request_.candidates));
  const std::vector<uint32_t>& ranked = scratch_.order;
  const size_t shown = std::min(ranked.size(), request_.candidates);
  explained.best.reserve(shown);
  for (size_t i = 0; i < shown; ++i) {
    explained.best.push_back(candidate(sites_[ranked[i]]));
    if (i == 0) continue;
    explained.best[i].after = compare(sites_[ranked[i - 1]].next, sites_[ranked[i]].next, plan_.ranking).by;
  }
}

Candidate Choice::candidate(const Site& site) const {
  const Vacancy& vacancy = state_.vacancy(site.server);
  Candidate candidate;
  candidate.server = site.server;
  const uint32_t shown = std::min<uint32_t>(spec_.rusPerTask, candidate.rus.size());
  candidate.rusCount = static_cast<uint8_t>(state_.lowestFree(site.server, {candidate.rus.data(), shown}));
  candidate.contention = vacancy.contention;
  candidate.slack = slackLeft(vacancy);
  const Sites::Quality quality = sites_.qualityOf(site, 0);
  candidate.q = quality.q;
  candidate.s = quality.s;
  return candidate;
}

}  // namespace

struct Chooser::Memory {
  Scratch scratch;
};

Chooser::Chooser() : memory_(std::make_unique<Memory>()) {}
Chooser::~Chooser() = default;
Chooser::Chooser(Chooser&&) noexcept = default;
Chooser& Chooser::operator=(Chooser&&) noexcept = default;

Decision Chooser::choose(const ClusterState& state, const PlacementRequest& request,
                         const QualitySettings& settings, uint64_t seed) {
  return Choice(state, request, settings, seed, memory_->scratch).decide();
}

Decision choose(const ClusterState& state, const PlacementRequest& request, const QualitySettings& settings,
                uint64_t seed) {
  return Chooser().choose(state, request, settings, seed);
}

bool looksAtQuality(Policy policy) {
  return policy == Policy::kQuality || policy == Policy::kGreedy;
}

Judging judgingFor(const JobSpec& spec, const QualitySettings& settings) {
  Judging judging;
  judging.model = settings.model;
  judging.contention = settings.contention;
  judging.margin = settings.margin;
  judging.noiseFloor = settings.noiseFloor;
  judging.protectNeighbours =
      spec.protectNeighbours && settings.protectNeighbours && looksAtQuality(spec.policy);
  return judging;
}

}  // namespace tarcil
