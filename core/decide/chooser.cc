#include "core/decide/chooser.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <utility>

#include "core/decide/assignment.h"
#include "core/decide/group_flow.h"
#include "core/decide/packing.h"
#include "core/decide/prepared_job.h"
#include "core/decide/sample_plan.h"
#include "core/decide/site_ranking.h"
#include "core/decide/slot_search.h"
#include "core/decide/spread_count.h"
#include "core/model/constraint.h"

namespace tarcil {

struct Chooser::Memory {
  PreparedJobs prepared;
  SearchMemory search;
  SiteRanking ranking;
  std::vector<ServerId> preferred;
  SlotSampler required;  // draws for tasks that require servers
  std::vector<SlotSampler::Slot> drawn;
  std::vector<uint32_t> sites;
};

namespace {

// The job's highest performance on a platform of these servers; 0 where there are none.
double bestPlatform(const ServerSet& servers, const PreparedJob& job) {
  double best = 0;
  for (size_t platform = 0; platform < servers.byPlatform().size(); ++platform) {
    if (servers.byPlatform()[platform] > 0) best = std::max(best, job.newcomers[platform].platformFactor);
  }
  return best;
}

// A power of two, so that jobs that ask for nearly as much draw from one set; the rest shows when a slot is
// judged.
uint64_t atMost(uint64_t bytes) {
  return std::bit_floor(bytes);
}

SpreadCount countPlaced(const ClusterState& state, const PlacementRequest& request) {
  SpreadCount placed(state, request.spec.placement);
  for (ServerId server : request.placedOn) {
    if (state.known(server)) placed.add(server);
  }
  return placed;
}

// One decision: finds slots, ranks them, assigns them to tasks and explains what it did.
class Choice {
 public:
  Choice(const ClusterState& state, const PlacementRequest& request, const QualitySettings& settings,
         uint64_t seed, Chooser::Memory& memory);

  Decision decide();

 private:
  // Tasks that require the same, by position in the request.
  struct Group {
    const std::vector<Constraint>* required = nullptr;
    std::vector<size_t> tasks;
  };
  using Groups = std::vector<Group>;
  void placeRequiring();
  void placeGroup(const Group& group);
  void placeTogether(const Groups& groups);
  Groups requiringGroups() const;
  void takeAllBack();
  uint32_t slotsThatWillDo(const Site& site, size_t most);
  // Where tasks that require this may go, and their highest performance on a platform of such servers.
  struct Required {
    std::vector<ServerId> servers;
    double best = 0;
  };
  Required serversFor(const std::vector<Constraint>& required, size_t tasks);
  Required listed(const Constraint& list, const std::vector<Constraint>& required) const;
  Required sampled(const std::vector<Constraint>& required, size_t tasks);
  void placePreferring();
  Site* bestOnPreferred(TaskIndex task, const std::vector<ServerId>* among);
  void find(uint64_t wanted);
  void offerNamed(uint64_t wanted);
  void placePerTask();
  // Of the policies that judge slots one by one: only at the end does it show how many can be taken together.
  bool judgesOneByOne() const { return spec_.policy == Policy::kGreedy || spec_.policy == Policy::kPerTask; }
  // Then all slots of a server are in the choice at once, and it shows no sooner either.
  bool namesServers() const {
    return !spec_.placement.preferOfTask.empty() || !spec_.placement.requireOfTask.empty();
  }

  Explanation& explanation() { return decision_.explanation; }
  // Returns the best sites, for as many tasks as there are.
  std::vector<uint32_t>& rankAndExplain();
  Candidate candidate(const Site& site);

  const ClusterState& state_;
  const PlacementRequest& request_;
  const JobSpec& spec_;
  const QualitySettings& settings_;
  Chooser::Memory& memory_;
  const ServerSet& servers_;
  SearchContext context_;
  Rng rng_;
  Decision decision_;
  SpreadCount placed_;  // the job's tasks that sit somewhere, claims of this decision included
  SlotSearch search_;
  Assignment assignment_;
};

Choice::Choice(const ClusterState& state, const PlacementRequest& request, const QualitySettings& settings,
               uint64_t seed, Chooser::Memory& memory)
    : state_(state),
      request_(request),
      spec_(request.spec),
      settings_(settings),
      memory_(memory),
      servers_(suitableServers(state, spec_)),
      context_{.state = state,
               .spec = spec_,
               .job = memory.prepared.prepare(state, spec_, judgingFor(spec_, settings)),
               .target = looksAtQuality(spec_.policy) ? spec_.target.value_or(settings.target) : 0,
               .acceptableFrom = 0,
               .price = request.price,
               .takesFeasible = request.standard == Standard::kBestThereIs,
               .ranking = rankingOf(spec_, settings),
               .seed = seed,
               .preferred = memory.preferred},
      rng_(seed),
      placed_(countPlaced(state, request)),
      search_(context_, servers_, request.except, placed_, rng_, memory.search, decision_.explanation),
      assignment_(context_, request, search_.sites(), placed_) {
  const double best = bestPlatform(servers_, context_.job);
  context_.acceptableFrom = context_.target * best;
  if (context_.ranking == Ranking::kWorth) context_.goodEnough = best;
  memory_.preferred.clear();
  for (const std::string& name : spec_.placement.prefer) {
    if (const auto server = state.find(name)) memory_.preferred.push_back(*server);
  }
  explanation().seed = seed;
  explanation().wanted = request.tasks.size();
  // To the others every free slot is acceptable.
  explanation().rarity = looksAtQuality(spec_.policy) ? settings.rarity : 1;
  explanation().confidence = spec_.confidence.value_or(settings.confidence);
  explanation().margin = settings.margin;
  if (context_.ranking == Ranking::kWorth) {
    explanation().price = std::min(request.price, 1.0);
    explanation().waitingJobs = request.waitingJobs;
  }
}

Decision Choice::decide() {
  if (request_.tasks.empty()) return std::move(decision_);
  if (!spec_.placement.requireOfTask.empty()) placeRequiring();
  if (!spec_.placement.preferOfTask.empty()) placePreferring();
  if (!assignment_.isComplete() || spec_.placement.requireOfTask.empty()) find(assignment_.missing());
  std::vector<uint32_t>& ranked = rankAndExplain();
  if (!spec_.placement.pack.empty()) {
    assignPacked(spec_.placement.pack, search_, placed_, assignment_);
  } else {
    assignment_.assignBest(ranked);
  }
  if (judgesOneByOne() || namesServers()) {
    explanation().enoughFound = assignment_.acceptable() == request_.tasks.size();
  }
  if (spec_.schedule != Schedule::kGang || assignment_.isWhole()) {
    decision_.claims = assignment_.takeClaims();
  }
  decision_.unmet = assignment_.unmet();
  decision_.firstUnmet = assignment_.firstUnmet();
  explanation().placed = decision_.claims.size();
  decision_.bestWorth = search_.sites().bestWorth();
  return std::move(decision_);
}

// Tasks that require the same are placed together, those with the fewest servers to choose from first. Of a
// gang one group may take what only another could: then all wait, the next time too, unless the groups are
// matched with the servers.
void Choice::placeRequiring() {
  const Groups groups = requiringGroups();
  for (const Group& group : groups) placeGroup(group);
  const bool areTogether = spec_.schedule == Schedule::kGang && groups.size() > 1;
  if (areTogether && assignment_.unmet() > 0) placeTogether(groups);
}

Choice::Groups Choice::requiringGroups() const {
  using Requirement = const std::vector<Constraint>*;
  const auto before = [](Requirement a, Requirement b) {
    const bool isListed = listIn(*a) != nullptr;
    return isListed == (listIn(*b) != nullptr) ? *a < *b : isListed;
  };
  std::map<Requirement, std::vector<size_t>, decltype(before)> tasks(before);
  for (size_t task = 0; task < request_.tasks.size(); ++task) {
    if (const Requirement required = spec_.requirementOf(request_.tasks[task].index)) {
      tasks[required].push_back(task);
    }
  }
  Groups groups;
  groups.reserve(tasks.size());
  for (auto& [required, positions] : tasks) groups.push_back({required, std::move(positions)});
  return groups;
}

void Choice::placeGroup(const Group& group) {
  const std::vector<size_t>& tasks = group.tasks;
  const Required found = serversFor(*group.required, tasks.size());
  std::vector<uint32_t>& sites = memory_.sites;
  sites.clear();
  // As if all of the job required it: good enough is what is near the best of these servers.
  const double ofJob = std::exchange(context_.acceptableFrom, context_.target * found.best);
  for (ServerId server : found.servers) {
    if (const auto site = search_.include(server)) sites.push_back(*site);
  }
  for (size_t task : tasks) {
    if (assignment_.left() == 0) break;
    Site* const preferred = bestOnPreferred(request_.tasks[task].index, &found.servers);
    if (preferred != nullptr) assignment_.assign(*preferred, task);
  }
  std::vector<uint32_t> ranked = sites;
  assignment_.assignOnly(tasks, ranked);
  context_.acceptableFrom = ofJob;
  for (uint32_t site : sites) search_.sites().judgeAnew(search_.sites()[site]);
}

// Places the groups anew, so that as many tasks as possible have a slot; which of its slots a task gets, and
// whether on a server that it prefers, does not matter then.
void Choice::placeTogether(const Groups& groups) {
  takeAllBack();
  Sites& sites = search_.sites();
  const double ofJob = context_.acceptableFrom;
  size_t tasks = 0;
  for (const Group& group : groups) tasks += group.tasks.size();
  GroupFlow flow(placed_, static_cast<uint32_t>(tasks));
  std::vector<double> acceptableFrom;
  for (const Group& group : groups) {
    // Enough are sampled for it beside whatever the others take.
    const Required found = serversFor(*group.required, tasks);
    context_.acceptableFrom = acceptableFrom.emplace_back(context_.target * found.best);
    flow.addGroup(static_cast<uint32_t>(group.tasks.size()));
    for (ServerId server : found.servers) {
      const auto site = search_.include(server);
      if (site && !flow.addServer(server, slotsThatWillDo(sites[*site], tasks))) break;
    }
  }
  std::vector<GroupFlow::Share> shares = flow.largest();
  // The first slots of a server are the better ones.
  std::ranges::stable_sort(shares, std::greater(),
                           [&](const auto& share) { return acceptableFrom[share.group]; });
  std::vector<size_t> placed(groups.size());
  for (const GroupFlow::Share& share : shares) {
    context_.acceptableFrom = acceptableFrom[share.group];
    Site& site = sites[*search_.include(share.server)];
    for (uint32_t i = 0; i < share.tasks; ++i) {
      assignment_.assign(site, groups[share.group].tasks[placed[share.group]++]);
    }
  }
  context_.acceptableFrom = ofJob;
  std::vector<uint32_t> none;
  for (const Group& group : groups) assignment_.assignOnly(group.tasks, none);
  for (Site& site : sites.all()) {
    if (site.seen) sites.judgeAnew(site);
  }
}

void Choice::takeAllBack() {
  assignment_.clear();
  placed_ = countPlaced(state_, request_);
  for (Site& site : search_.sites().all()) {
    if (site.seen) site.picked = 0;
  }
}

// Slots of the site that may be taken one after the other, with no task of this decision there; not more than
// so many are looked at.
uint32_t Choice::slotsThatWillDo(const Site& site, size_t most) {
  const Sites& sites = search_.sites();
  uint32_t slots = 0;
  while (slots < std::min<size_t>(site.found, most) && sites.mayTake(sites.offer(site, slots))) ++slots;
  return slots;
}

// Where these may be listed by name or rack; else so many as a sample for so many tasks has.
Choice::Required Choice::serversFor(const std::vector<Constraint>& required, size_t tasks) {
  const Constraint* const list = listIn(required);
  return list ? listed(*list, required) : sampled(required, tasks);
}

Choice::Required Choice::listed(const Constraint& list, const std::vector<Constraint>& required) const {
  Required found;
  for (ServerId server : state_.listedBy(list)) {
    if (!servers_.contains(server) || !state_.meets(server, {required, {}})) continue;
    const PlatformId platform = state_.vacancy(server).platform;
    found.best = std::max(found.best, context_.job.newcomers[platform].platformFactor);
    found.servers.push_back(server);
  }
  return found;
}

Choice::Required Choice::sampled(const std::vector<Constraint>& required, size_t tasks) {
  suitableServers(state_, spec_);  // stays among those kept
  const ServerSet& suitable = suitableServers(state_, spec_, required);
  Required found{.servers = {}, .best = bestPlatform(suitable, context_.job)};
  if (spec_.policy == Policy::kGreedy) {
    suitable.free().forEach([&found](ServerId server) { found.servers.push_back(server); });
  } else {
    memory_.required.start(suitable, state_.vacancies(), spec_.rusPerTask, rng_);
    memory_.drawn.clear();
    memory_.required.draw(samplePlanOf(spec_, settings_, tasks).limit, memory_.drawn);
    for (const SlotSampler::Slot& slot : memory_.drawn) found.servers.push_back(slot.server);
  }
  std::ranges::sort(found.servers);
  found.servers.erase(std::unique(found.servers.begin(), found.servers.end()), found.servers.end());
  return found;
}

// Tasks with preferences of their own get the best acceptable slot there.
void Choice::placePreferring() {
  for (size_t task = 0; task < request_.tasks.size() && !assignment_.isComplete(); ++task) {
    const TaskIndex index = request_.tasks[task].index;
    if (spec_.requirementOf(index) != nullptr) continue;
    if (Site* const site = bestOnPreferred(index, nullptr)) assignment_.assign(*site, task);
  }
}

// The site with the acceptable slot of the highest E, the first named of equal ones, of the servers that only
// this task prefers, of those in `among` where it is given, which is ascending; else nullptr.
Site* Choice::bestOnPreferred(TaskIndex task, const std::vector<ServerId>* among) {
  const auto named = spec_.placement.preferOfTask.find(task);
  if (named == spec_.placement.preferOfTask.end()) return nullptr;
  std::optional<uint32_t> best;
  Sites& sites = search_.sites();
  for (const std::string& name : named->second) {
    const auto server = state_.find(name);
    if (!server || (among && !std::ranges::binary_search(*among, *server))) continue;
    const auto number = search_.include(*server);
    if (!number) continue;
    const Site& site = sites[*number];
    if (site.next.standing != Standing::kAcceptable || placed_.isFull(*server)) continue;
    if (!best || site.next.performance > sites[*best].next.performance) best = number;
  }
  return best ? &sites[*best] : nullptr;
}

void Choice::find(uint64_t wanted) {
  const SamplePlan plan = samplePlanOf(spec_, settings_, wanted);
  explanation().sought = wanted;
  explanation().limit = plan.limit;
  if (spec_.policy == Policy::kGreedy) return search_.scan();
  if (spec_.policy == Policy::kPerTask) return placePerTask();
  offerNamed(wanted);
  search_.sample(plan, wanted, request_.ask);
}

void Choice::offerNamed(uint64_t wanted) {
  for (ServerId server : memory_.preferred) {
    for (uint64_t slots = 0; slots < wanted && search_.offerNext(server);) ++slots;
  }
}

// For each task the better of two slots, with the job's tasks before it in place. Where all slots were drawn
// before all tasks had theirs, those that were not taken are assigned as for other policies.
void Choice::placePerTask() {
  while (!assignment_.isComplete() && !explanation().allSeen) {
    if (Site* const site = search_.betterOfTwo()) assignment_.assignNext(*site);
  }
}

std::vector<uint32_t>& Choice::rankAndExplain() {
  Explanation& explained = explanation();
  const auto& counts = search_.counts();
  explained.acceptable = counts[Site::kOpen];
  std::copy_n(counts.begin(), kDropReasons, explained.dropped.begin());
  explained.dropped[at(Dropped::kConstraint)] = state_.all().servers() - servers_.servers();
  explained.dropped[at(Dropped::kNotEnoughFree)] += servers_.free().serversBelow(spec_.rusPerTask);
  // Of a job that spreads, some of the best may be passed over. Sites that tasks with servers of their own
  // have used up are among them.
  Sites& sites = search_.sites();
  const size_t most = std::max<size_t>(request_.tasks.size(), request_.candidates);
  std::vector<uint32_t>& ranked =
      memory_.ranking.best(sites, context_, placed_.isLimited() ? sites.all().size() : most);
  const size_t shown = std::min(ranked.size(), request_.candidates);
  explained.best.reserve(shown);
  for (size_t i = 0; i < shown; ++i) {
    explained.best.push_back(candidate(sites[ranked[i]]));
    if (i == 0) continue;
    explained.best[i].after = compare(sites[ranked[i - 1]].next, sites[ranked[i]].next, context_.ranking).by;
  }
  return ranked;
}

Candidate Choice::candidate(const Site& site) {
  const Vacancy& vacancy = state_.vacancy(site.server);
  Candidate candidate;
  candidate.server = site.server;
  const uint32_t shown = std::min<uint32_t>(spec_.rusPerTask, candidate.rus.size());
  candidate.rusCount = static_cast<uint8_t>(state_.lowestFree(site.server, {candidate.rus.data(), shown}));
  candidate.contention = vacancy.contention;
  candidate.slack = slackLeft(vacancy);
  const Sites::Quality quality = search_.sites().qualityOf(site, 0);
  candidate.q = quality.q;
  candidate.s = quality.s;
  candidate.cost = quality.cost;
  return candidate;
}

}  // namespace

const ServerSet& suitableServers(const ClusterState& state, const JobSpec& spec,
                                 const std::vector<Constraint>& required) {
  const std::vector<Constraint>& constraints = spec.placement.constraints;
  const ByteResources bytes{atMost(spec.limits.memoryBytes), atMost(spec.limits.diskBytes)};
  if (constraints.empty() && required.empty() && spec.extras.empty() && bytes == ByteResources{})
    return state.all();
  ServerNeeds needs{constraints, spec.extras, bytes};
  needs.constraints.insert(needs.constraints.end(), required.begin(), required.end());
  return state.meeting(needs);
}

Chooser::Chooser() : memory_(std::make_unique<Memory>()) {}
Chooser::~Chooser() = default;
Chooser::Chooser(Chooser&&) noexcept = default;
Chooser& Chooser::operator=(Chooser&&) noexcept = default;

Decision Chooser::choose(const ClusterState& state, const PlacementRequest& request,
                         const QualitySettings& settings, uint64_t seed) {
  return Choice(state, request, settings, seed, *memory_).decide();
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
  judging.neighbourFloor = settings.neighbourFloor;
  judging.protectNeighbours =
      spec.protectNeighbours && settings.protectNeighbours && looksAtQuality(spec.policy);
  return judging;
}

}  // namespace tarcil
