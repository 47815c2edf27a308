#include "core/decide/chooser.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/decide/sampler.h"
#include "core/decide/suited.h"
#include "core/model/quality.h"
#include "core/model/sample_size.h"
#include "core/state/occupancy.h"
#include "core/state/slot.h"

namespace tarcil {
namespace {

// Slots whose expected performance differs by less count as alike (design 3.5).
constexpr double kBandWidth = 0.02;

enum class Standing : uint8_t { kAcceptable, kFeasible, kInfeasible };

// What the next slot of a server offers the job, and where that ranks.
struct Offer {
  Standing standing = Standing::kInfeasible;
  bool preferred = false;
  double performance = 0;  // E
  double satisfaction = 0;
  Encoded q = 0;
  uint32_t occupied = 0, rus = 1;
  uint64_t chance = 0;

  // 0 for the best: E within 0.02 of the best platform's.
  int band() const { return static_cast<int>(std::floor((1.0 - performance) / kBandWidth)); }
};

// Ranking: among acceptable slots preferred servers, then E in bands; among others E; then Q, load and
// chance.
bool ranksBefore(const Offer& a, const Offer& b) {
  if (a.standing != b.standing) return a.standing < b.standing;
  if (a.standing == Standing::kAcceptable) {
    if (a.preferred != b.preferred) return a.preferred;
    if (a.band() != b.band()) return a.band() < b.band();
  } else if (a.performance != b.performance) {
    return a.performance > b.performance;
  }
  if (a.q != b.q) return a.q > b.q;
  const uint64_t loadA = uint64_t{a.occupied} * b.rus, loadB = uint64_t{b.occupied} * a.rus;
  if (loadA != loadB) return loadA < loadB;
  return a.chance < b.chance;
}

// Reasons to drop a slot; chooser.h explains them.
constexpr const char* kSpread = "spread";
constexpr const char* kTaken = "taken";

std::string reasonAgainst(const SlotView& slot) {
  if (slot.broken < 0) return "quality";
  return "neighbour:" + std::string(kResourceNames[static_cast<size_t>(slot.broken)]);
}

// The job as one platform sees it.
struct OnPlatform {
  JobView job;
  PressureSum bound;  // what a task of the job adds to G
  Share share;
};

// A server of which slots were drawn.
struct Site {
  ServerId server = 0;
  const OnPlatform* platform = nullptr;
  std::string domain;  // for spread: the server or its rack
  bool preferred = false;
  uint64_t chance = 0;
  ServerStatus
      status;          // with the job's own tasks laid over: first as many as were found, then as were picked
  Offer first;         // before any of them
  uint32_t found = 0;  // drawn slots that may be taken one after the other
  uint32_t picked = 0;
  std::string closed;  // why no further slot may be taken; empty where one may
};

// One decision.
class Chooser {
 public:
  Chooser(const ClusterState& state, const PlacementRequest& request, const QualitySettings& settings,
          uint64_t seed);

  Decision decide();

 private:
  void offerPreferred();
  void sample();
  std::string offer(Site& site);
  void pick();
  void explain();

  Site& siteOf(ServerId server);
  const OnPlatform& platformOf(ServerId server);
  std::string domainOf(ServerId server) const;
  bool domainFull(const std::map<std::string, uint32_t>& counts, const std::string& domain) const;

  SlotView view(const Site& site, const ServerStatus& status) const;
  Offer appraise(const Site& site, const SlotView& slot) const;
  void layOwn(Site& site, const std::vector<RuIndex>& rus) const;
  Claim claimOn(Site& site, const Offer& offer) const;
  Candidate candidate(const Site& site) const;
  uint64_t mostDraws() const;
  double guaranteed() const;

  bool mayTake(const Offer& offer) const {
    return offer.standing == Standing::kAcceptable ||
           (offer.standing == Standing::kFeasible && request_.standard == Standard::kBestThereIs);
  }

  const ClusterState& state_;
  const PlacementRequest& request_;
  const JobSpec& spec_;
  const QualitySettings& settings_;
  const Judging judging_;
  const double target_;
  const double acceptableFrom_;  // E
  Rng rng_;
  SlotSampler sampler_;

  std::unordered_set<std::string> prefer_;
  std::map<std::string, OnPlatform> platforms_;
  std::vector<Site> sites_;
  std::unordered_map<ServerId, size_t> siteIndex_;
  std::map<std::string, uint32_t> placedIn_;  // domain -> tasks of the job, claims of this decision included
  std::map<std::string, uint32_t> foundIn_;   // domain -> the same with every acceptable slot found
  uint64_t found_ = 0;                        // acceptable slots that can be taken together
  uint64_t acceptableDrawn_ = 0;
  bool sawAll_ = false;
  Decision decision_;
};

Chooser::Chooser(const ClusterState& state, const PlacementRequest& request, const QualitySettings& settings,
                 uint64_t seed)
    : state_(state),
      request_(request),
      spec_(request.spec),
      settings_(settings),
      judging_(judgingFor(spec_, settings)),
      target_(spec_.target.value_or(settings.target)),
      acceptableFrom_(target_ * bestPlatformFactor(state, spec_)),
      rng_(seed),
      sampler_(state, spec_, rng_),
      prefer_(spec_.placement.prefer.begin(), spec_.placement.prefer.end()) {
  decision_.explanation.seed = seed;
  decision_.explanation.wanted = request.tasks.size();
  if (spec_.placement.spread == Spread::kNone) return;
  for (ServerId server : request.placedOn) {
    if (state.known(server)) ++placedIn_[domainOf(server)];
  }
  foundIn_ = placedIn_;
}

Decision Chooser::decide() {
  if (request_.tasks.empty()) return std::move(decision_);
  offerPreferred();
  sample();
  explain();
  pick();
  const bool all = decision_.claims.size() == request_.tasks.size();
  if (spec_.schedule == Schedule::kGang && !all) decision_.claims.clear();
  decision_.explanation.placed = decision_.claims.size();
  return std::move(decision_);
}

void Chooser::offerPreferred() {
  for (const std::string& name : spec_.placement.prefer) {
    const std::optional<ServerId> server = state_.find(name);
    if (!server) continue;
    for (size_t slots = request_.tasks.size(); slots > 0 && sampler_.take(*server); --slots) {
      if (Site& site = siteOf(*server); !offer(site).empty()) break;
    }
  }
}

void Chooser::sample() {
  Explanation& explanation = decision_.explanation;
  const uint64_t wanted = request_.tasks.size();
  const uint64_t most = mostDraws();
  const uint64_t least = settings_.ratio ? most : std::max<uint64_t>(settings_.floor, wanted);
  uint64_t drawn = 0;
  while (drawn < most && (drawn < least || found_ < wanted)) {
    const std::optional<ServerId> server = sampler_.next();
    sawAll_ = !server;
    if (sawAll_) break;
    ++drawn;
    const std::string dropped = offer(siteOf(*server));
    if (dropped.empty()) {
      ++acceptableDrawn_;
    } else {
      ++explanation.dropped[dropped];
    }
  }
  explanation.drawn = static_cast<uint32_t>(drawn);
}

// Judges one more slot of the site, on top of those that were found before. Returns why it is dropped; empty
// where it is acceptable.
std::string Chooser::offer(Site& site) {
  if (!site.closed.empty()) return site.closed;
  const SlotView slot = view(site, site.status);
  const Offer offered = appraise(site, slot);
  if (!mayTake(offered)) return site.closed = site.found > 0 ? kTaken : reasonAgainst(slot);
  ++site.found;
  layOwn(site, site.status.free.first(spec_.rusPerTask));
  if (offered.standing != Standing::kAcceptable) {
    return site.first.standing == Standing::kAcceptable ? kTaken : reasonAgainst(slot);
  }
  // A slot beyond what its rack may take stays in the choice, since it may be better than those found before
  // it.
  if (domainFull(foundIn_, site.domain)) return kSpread;
  if (spec_.placement.spread != Spread::kNone) ++foundIn_[site.domain];
  ++found_;
  return {};
}

void Chooser::pick() {
  struct Next {
    Offer offer;
    Site* site;
  };
  const auto later = [](const Next& a, const Next& b) { return ranksBefore(b.offer, a.offer); };
  std::priority_queue<Next, std::vector<Next>, decltype(later)> next(later);
  for (Site& site : sites_) {
    if (site.found == 0) continue;
    site.status = state_.status(site.server);
    next.push({site.first, &site});
  }
  while (decision_.claims.size() < request_.tasks.size() && !next.empty()) {
    const auto [best, site] = next.top();
    next.pop();
    if (domainFull(placedIn_, site->domain)) continue;
    decision_.claims.push_back(claimOn(*site, best));
    if (spec_.placement.spread != Spread::kNone) ++placedIn_[site->domain];
    if (++site->picked < site->found) next.push({appraise(*site, view(*site, site->status)), site});
  }
}

void Chooser::explain() {
  Explanation& explanation = decision_.explanation;
  if (sampler_.unsuited() > 0) explanation.dropped["constraint"] = sampler_.unsuited();
  if (sampler_.tooFull() > 0) explanation.dropped["not_enough_free"] = sampler_.tooFull();
  explanation.ratio = static_cast<double>(explanation.drawn) / static_cast<double>(request_.tasks.size());
  if (explanation.drawn > 0) explanation.p = static_cast<double>(acceptableDrawn_) / explanation.drawn;
  explanation.guarantee = guaranteed();

  std::vector<const Site*> ranked;
  for (const Site& site : sites_) {
    if (site.closed != kSpread) ranked.push_back(&site);
  }
  const size_t shown = std::min(ranked.size(), Explanation::kMaxCandidates);
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(shown), ranked.end(),
                    [](const Site* a, const Site* b) { return ranksBefore(a->first, b->first); });
  for (size_t i = 0; i < shown; ++i) explanation.best.push_back(candidate(*ranked[i]));
}

uint64_t Chooser::mostDraws() const {
  return uint64_t{settings_.ratio.value_or(settings_.cap)} * request_.tasks.size();
}

double Chooser::guaranteed() const {
  const uint64_t wanted = request_.tasks.size();
  if (sawAll_) return found_ >= wanted ? 1.0 : 0.0;  // nothing was left to chance
  const double confidence = spec_.confidence.value_or(settings_.confidence);
  const double p = lowerBound(acceptableDrawn_, decision_.explanation.drawn, confidence);
  return guarantee(p, mostDraws(), static_cast<uint32_t>(wanted));
}

Site& Chooser::siteOf(ServerId server) {
  const auto [it, isNew] = siteIndex_.try_emplace(server, sites_.size());
  if (!isNew) return sites_[it->second];
  Site& site = sites_.emplace_back();
  site.server = server;
  site.platform = &platformOf(server);
  if (spec_.placement.spread != Spread::kNone) site.domain = domainOf(server);
  site.preferred = prefer_.contains(state_.facts(server).name);
  site.chance = rng_();
  site.status = state_.status(server);
  site.first = appraise(site, view(site, site.status));
  if (domainFull(placedIn_, site.domain)) site.closed = kSpread;
  return site;
}

const OnPlatform& Chooser::platformOf(ServerId server) {
  const std::string& name = state_.facts(server).platform;
  const auto [it, isNew] = platforms_.try_emplace(name);
  if (isNew) {
    OnPlatform& platform = it->second;
    platform.share = state_.shareOf(name);
    platform.job = viewOn(spec_.profile, platform.share, platformFactor(spec_.profile, name));
    platform.bound = boundOf(spec_.profile.caused, spec_.profile.tolerated, platform.share);
  }
  return it->second;
}

std::string Chooser::domainOf(ServerId server) const {
  const ServerFacts& facts = state_.facts(server);
  return spec_.placement.spread == Spread::kRack ? facts.rack : facts.name;
}

bool Chooser::domainFull(const std::map<std::string, uint32_t>& counts, const std::string& domain) const {
  if (spec_.placement.spread == Spread::kNone) return false;
  const auto it = counts.find(domain);
  return it != counts.end() && it->second >= spec_.placement.atMost;
}

SlotView Chooser::view(const Site& site, const ServerStatus& status) const {
  return viewSlot(site.platform->job, judging_, state_.facts(site.server), status, site.platform->share);
}

Offer Chooser::appraise(const Site& site, const SlotView& slot) const {
  Offer offer;
  offer.preferred = site.preferred;
  offer.chance = site.chance;
  offer.rus = state_.facts(site.server).rus;
  offer.occupied = offer.rus - std::min(offer.rus, site.status.free.size());
  offer.performance = expectedPerformance(site.platform->job, slot.judgement);
  offer.satisfaction = slot.judgement.satisfaction;
  offer.q = slot.judgement.qNumerator;
  if (slot.broken < 0) {
    offer.standing = offer.performance >= acceptableFrom_ ? Standing::kAcceptable : Standing::kFeasible;
  }
  return offer;
}

void Chooser::layOwn(Site& site, const std::vector<RuIndex>& rus) const {
  layOn(site.status, rus, spec_.profile.caused, site.platform->bound);
}

Claim Chooser::claimOn(Site& site, const Offer& offer) const {
  const PlacementRequest::Task& task = request_.tasks[decision_.claims.size()];
  Claim claim;
  claim.task = task.index;
  claim.attempt = task.attempt;
  claim.server = site.server;
  claim.rus = spec_.rusPerTask;
  claim.preferred = site.status.free.first(spec_.rusPerTask);
  claim.versionSeen = site.status.version;
  claim.floor = std::min(target_, offer.satisfaction);
  claim.q = normalized(offer.q);
  claim.s = offer.satisfaction;
  layOwn(site, claim.preferred);
  return claim;
}

Candidate Chooser::candidate(const Site& site) const {
  const ServerFacts& facts = state_.facts(site.server);
  const ServerStatus& status = state_.status(site.server);
  const SlotView slot = view(site, status);
  Candidate candidate;
  candidate.server = facts.name;
  candidate.platform = facts.platform;
  candidate.rus = status.free.first(spec_.rusPerTask);
  candidate.contention = slot.contention;
  candidate.uH = uH(slot.judgement);
  candidate.q = q(slot.judgement);
  candidate.s = slot.judgement.satisfaction;
  candidate.platformFactor = site.platform->job.platformFactor;
  candidate.slack = slot.slack;
  return candidate;
}

}  // namespace

Decision choose(const ClusterState& state, const PlacementRequest& request, const QualitySettings& settings,
                uint64_t seed) {
  return Chooser(state, request, settings, seed).decide();
}

Judging judgingFor(const JobSpec& spec, const QualitySettings& settings) {
  Judging judging;
  judging.caused = spec.profile.caused;
  judging.tolerated = spec.profile.tolerated;
  judging.model = settings.model;
  judging.contention = settings.contention;
  judging.margin = settings.margin;
  judging.noiseFloor = settings.noiseFloor;
  judging.protectNeighbours = spec.protectNeighbours && settings.protectNeighbours;
  return judging;
}

}  // namespace tarcil
