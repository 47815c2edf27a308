// What holds of every decision: any cluster, any job, any policy, any settings.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/decide/chooser.h"
#include "core/model/constraint.h"
#include "core/model/residents.h"
#include "core/state/commit_check.h"
#include "tests/core/model/generators.h"
#include "tests/support/builders.h"

namespace tarcil::soundness_test {

// An attribute that most servers have.
constexpr std::string_view kZone = "zone";

// Small pressures and much tolerance, so that many servers can hold several tasks and some cannot.
Profile mild() {
  Profile profile = *aProfile();
  for (uint8_t& caused : profile.caused) caused /= 5;
  for (uint8_t& tolerated : profile.tolerated) tolerated = static_cast<uint8_t>(kMaxPressure - tolerated / 3);
  return profile;
}

std::string server(int number) {
  return "s" + std::to_string(number);
}

struct Case {
  std::vector<ServerBuilder> servers;
  ClusterState state;
  JobSpec spec;
  QualitySettings settings;
  PlacementRequest request;
  uint64_t seed = *rc::gen::arbitrary<uint64_t>();

  Case()
      : servers(someServers()),
        state(clusterOf(servers)),
        spec(aJob(1)),
        settings(someSettings()),
        request{spec, {}, {}} {
    state.setContention(settings.contention);
    state.keepNeighbours(looksAtNeighbours(settings));
    spec = someJob();
    for (TaskIndex task = 0; task < spec.tasks; ++task) {
      if (*rc::gen::inRange(0, 8) > 0) request.tasks.push_back({task, *rc::gen::inRange(0u, 3u)});
    }
    for (int placed = *rc::gen::inRange(0, 3); placed > 0 && !servers.empty(); --placed) {
      request.placedOn.push_back(*rc::gen::inRange<ServerId>(0, static_cast<ServerId>(servers.size())));
    }
    request.standard = *rc::gen::element(Standard::kAcceptable, Standard::kBestThereIs);
  }

  static std::vector<ServerBuilder> someServers() {
    std::vector<ServerBuilder> servers;
    for (int i = 0, end = *rc::gen::inRange(0, 14); i < end; ++i) {
      auto made = aServer(server(i)).rus(*rc::gen::element(1u, 3u, 8u, 40u));
      made.rack("r" + std::to_string(i % 4)).platform("p" + std::to_string(*rc::gen::inRange(0, 3)));
      if (*rc::gen::inRange(0, 3) == 0) made.extra("gpus", *rc::gen::inRange(1u, 5u));
      for (int residents = *rc::gen::inRange(0, 3); residents > 0; --residents) {
        made.holding(mild(), 1, made.facts().extras.empty() ? Extras{} : Extras{{"gpus", 1}});
      }
      if (*rc::gen::inRange(0, 3) == 0) made.background({{Resource::kLlc, *rc::gen::inRange(0, 100)}});
      if (i % 5 > 0) made.attribute(std::string(kZone), i % 5 < 3 ? "z1" : "z2");
      if (*rc::gen::inRange(0, 8) == 0) made.down();
      if (*rc::gen::inRange(0, 8) == 0) made.cordoned();
      servers.push_back(made);
    }
    return servers;
  }

  static ClusterState clusterOf(const std::vector<ServerBuilder>& servers) {
    ClusterState state = aCluster(servers);
    state.setShare("p1", *aShare());
    return state;
  }

  static QualitySettings someSettings() {
    QualitySettings settings;
    settings.ranking = *rc::gen::element(RankBy::kQuality, RankBy::kWorth);
    settings.model = *rc::gen::element(QualityModel::kEncoded, QualityModel::kComponentwise);
    settings.contention = *rc::gen::element(ContentionModel::kSum, ContentionModel::kMean);
    settings.margin = *rc::gen::element(0, 0, 5);
    settings.target = *rc::gen::element(0.5, 0.95, 1.0);
    settings.protectNeighbours = *rc::gen::inRange(0, 3) > 0;
    settings.floor = *rc::gen::element(1u, 8u, 100u);
    settings.rarity = *rc::gen::element(0.01, 0.05, 0.5, 1.0);
    settings.confidence = *rc::gen::element(0.5, 0.999);
    if (*rc::gen::arbitrary<bool>()) settings.cap = *rc::gen::element(1u, 4u, 32u);
    if (*rc::gen::inRange(0, 4) == 0) settings.ratio = *rc::gen::element(1u, 3u, 1'000u);
    return settings;
  }

  static JobSpec someJob() {
    JobSpec spec = aJob(*rc::gen::inRange(1u, 40u), mild());
    if (*rc::gen::arbitrary<bool>()) spec.profile.platforms = {{"p0", 1.0}, {"p1", 0.97}, {"p2", 0.6}};
    spec.rusPerTask = *rc::gen::element(1u, 1u, 2u, 3u);
    spec.policy = *rc::gen::element(Policy::kQuality, Policy::kQuality, Policy::kGreedy, Policy::kRandom,
                                    Policy::kPerTask, Policy::kBatch);
    if (*rc::gen::inRange(0, 4) == 0) spec.schedule = Schedule::kGang;
    if (*rc::gen::inRange(0, 4) == 0) spec.extras = {{"gpus", *rc::gen::inRange(1u, 3u)}};
    Placement& placement = spec.placement;
    placement.spread = *rc::gen::element(Domain::kNone, Domain::kServer, Domain::kRack, kZone);
    placement.atMost = *rc::gen::inRange(1u, 5u);
    // Packing and spreading over the same is refused at submission.
    const bool looksAtQuality = spec.policy == Policy::kQuality || spec.policy == Policy::kGreedy;
    if (looksAtQuality && placement.spread != Domain::kServer)
      placement.pack = *rc::gen::element(Domain::kNone, Domain::kServer, kZone);
    if (looksAtQuality && placement.spread != Domain::kRack)
      placement.pack = *rc::gen::element(placement.pack, std::string(Domain::kRack));
    if (*rc::gen::inRange(0, 4) == 0) placement.constraints = {*parseConstraint("platform != p2")};
    if (*rc::gen::inRange(0, 4) == 0) placement.prefer = {server(1), server(5), "unheard-of"};
    for (int named = *rc::gen::element(0, 0, 3); named > 0; --named) {
      placement.preferOfTask[*rc::gen::inRange(0u, 40u)] = {server(*rc::gen::inRange(0, 14)), server(2)};
    }
    for (int named = *rc::gen::element(0, 0, 2, 6); named > 0; --named) {
      placement.requireOfTask[*rc::gen::inRange(0u, 40u)] = {
          onServers({server(*rc::gen::inRange(0, 14)), server(3)})};
    }
    if (*rc::gen::inRange(0, 6) == 0) placement.requireOfTask[0] = {*parseConstraint("platform = p1")};
    return spec;
  }

  Decision decide() const { return choose(state, request, settings, seed); }
  Judging judging() const { return judgingFor(spec, settings); }
  bool mayUse(ServerId id) const {
    const ServerFacts facts = state.facts(id);
    const auto attributes = constraintAttributes(facts);
    return haveExtras(allExtras(facts.extras), spec.extras) &&
           std::all_of(spec.placement.constraints.begin(), spec.placement.constraints.end(),
                       [&](const Constraint& constraint) { return meets(constraint, attributes); });
  }
  bool takesAnyFeasible() const {
    return !looksAtQuality(spec.policy) || request.standard == Standard::kBestThereIs;
  }
  // E that is near the best of the servers that a task with this requirement may go to.
  double acceptableFrom(const std::vector<Constraint>* required) const {
    double best = 0;
    for (ServerId id = 0; id < state.size(); ++id) {
      if (!mayUse(id) || (required != nullptr && !meets(state.facts(id), *required))) continue;
      best = std::max(best, platformFactor(spec.profile, state.facts(id).platform));
    }
    return spec.target.value_or(settings.target) * best;
  }
};

std::string domainOf(const Case& c, ServerId id) {
  const ServerFacts facts = c.state.facts(id);
  return std::string(attributeOf(facts, c.spec.placement.spread).value_or(""));
}

// A server as tasks of the job come to it one by one.
class Filling {
 public:
  Filling(const Case& c, ServerId id)
      : c_(c),
        facts_(c.state.facts(id)),
        share_(c.state.shareOf(facts_.platform)),
        view_(viewOn(c.spec.profile, share_, platformFactor(c.spec.profile, facts_.platform))),
        status_(c.state.status(id)) {}

  // Whether the next task finds room, breaks no resident, its own job's tasks included, and S there.
  bool feasible() const {
    if (!status_.up || status_.cordoned || status_.free.size() < c_.spec.rusPerTask) return false;
    if (!haveExtras(status_.freeExtras, c_.spec.extras)) return false;
    const PressureSum slack = slackOf(status_.bound, status_.sum, share_, status_.background);
    const Judging judging = c_.judging();
    return !judging.protectNeighbours || brokenResource(view_.caused, slack, judging.noiseFloor) < 0;
  }
  Judgement judgement() const {
    const Pressure interference = contention(c_.settings.contention, status_.sum, share_, status_.background,
                                             static_cast<int>(facts_.rus));
    return judge(view_, interference, c_.settings.model, c_.settings.margin);
  }
  double performance() const { return expectedPerformance(view_, judgement()); }
  void place(const std::vector<RuIndex>& rus) {
    layOn(status_, rus, c_.spec.profile.caused, c_.spec.profile.tolerated, share_);
    takeExtras(status_.freeExtras, lowestExtras(status_.freeExtras, c_.spec.extras));
    ++status_.version;
  }

  const ServerFacts& facts() const { return facts_; }
  const ServerStatus& status() const { return status_; }
  const Share& share() const { return share_; }

 private:
  const Case& c_;
  ServerFacts facts_;
  Share share_;
  JobView view_;
  ServerStatus status_;
};

// With the claims before it granted, each holds as it was made: room, extras, S and Q, and nobody broken.
RC_GTEST_PROP(Decisions, HoldClaimByClaim, ()) {
  const Case c;
  const Decision decision = c.decide();
  std::map<ServerId, Filling> fillings;
  for (const Claim& claim : decision.claims) {
    Filling& filling = fillings.try_emplace(claim.server, c, claim.server).first->second;
    RC_ASSERT(c.mayUse(claim.server));
    if (const auto* required = c.spec.requirementOf(claim.task)) {
      RC_ASSERT(meets(c.state.facts(claim.server), *required));
    }
    RC_ASSERT(filling.feasible());
    if (!c.takesAnyFeasible())
      RC_ASSERT(filling.performance() >= c.acceptableFrom(c.spec.requirementOf(claim.task)));
    RC_ASSERT(claim.rus == c.spec.rusPerTask);
    RC_ASSERT(claim.preferred.size() == claim.rus);
    for (RuIndex ru : claim.preferred) RC_ASSERT(filling.status().free.contains(ru));
    RC_ASSERT(claim.s == filling.judgement().satisfaction);
    RC_ASSERT(claim.q == q(filling.judgement()));
    RC_ASSERT(claim.versionSeen == c.state.version(claim.server));
    RC_ASSERT(checkClaim(claim, c.judging(), c.spec, filling.facts(), filling.status(), filling.share()) ==
              Verdict::kGranted);
    filling.place(claim.preferred);
  }
  RC_TAG(decision.claims.size() > 0);
}

RC_GTEST_PROP(Decisions, AreForTasksThatWereAskedForAndWithinTheSpread, ()) {
  const Case c;
  const Decision decision = c.decide();
  std::map<TaskIndex, uint32_t> asked;
  for (const auto& task : c.request.tasks) asked[task.index] = task.attempt;
  std::map<std::string, uint32_t> inDomain;
  for (ServerId id : c.request.placedOn) ++inDomain[domainOf(c, id)];
  for (const Claim& claim : decision.claims) {
    RC_ASSERT(asked.count(claim.task) == 1u);
    RC_ASSERT(asked[claim.task] == claim.attempt);
    asked.erase(claim.task);
    const uint32_t there = ++inDomain[domainOf(c, claim.server)];
    RC_ASSERT(c.spec.placement.spread == Domain::kNone || there <= c.spec.placement.atMost);
  }
  if (c.spec.schedule == Schedule::kGang) RC_ASSERT(asked.empty() || decision.claims.empty());
  RC_ASSERT(decision.explanation.placed == decision.claims.size());
}

// One chooser for all decisions on a state decides as a new one would: what it keeps is memory, not state.
RC_GTEST_PROP(Decisions, DoNotDependOnThoseBefore, ()) {
  const Case c, other;
  Chooser chooser;
  PlacementRequest unlike{other.spec, other.request.tasks, {}};
  for (int turns = *rc::gen::inRange(1, 4); turns > 0; --turns) {
    chooser.choose(c.state, unlike, c.settings, other.seed);
    const Decision again = chooser.choose(c.state, c.request, c.settings, c.seed);
    const Decision fresh = c.decide();
    RC_ASSERT(again.claims == fresh.claims);
    RC_ASSERT(again.explanation == fresh.explanation);
  }
}

// How many tasks of the job the cluster could take: acceptable ones, and at the wait bound feasible ones.
size_t most(const Case& c) {
  const double from = c.takesAnyFeasible() ? 0 : c.acceptableFrom(nullptr);
  std::map<std::string, size_t> taken, room;
  for (ServerId id : c.request.placedOn) ++taken[domainOf(c, id)];
  for (ServerId id = 0; id < c.state.size(); ++id) {
    if (!c.mayUse(id)) continue;
    for (Filling filling(c, id); filling.feasible() && filling.performance() >= from;) {
      ++room[domainOf(c, id)];
      filling.place(filling.status().free.first(c.spec.rusPerTask));
    }
  }
  size_t total = 0;
  for (const auto& [domain, slots] : room) {
    const size_t free = c.spec.placement.atMost - std::min<size_t>(c.spec.placement.atMost, taken[domain]);
    total += c.spec.placement.spread == Domain::kNone ? slots : std::min(slots, free);
  }
  return std::min(total, c.request.tasks.size());
}

// Whoever looks at all slots places as many tasks as there is room for, packed or not.
RC_GTEST_PROP(Decisions, PlaceAllThatFitWhereAllIsSeen, ()) {
  Case c;
  c.spec.schedule = Schedule::kIncremental;
  c.spec.placement.requireOfTask.clear();
  c.settings.ratio = 10'000;
  c.settings.ranking = RankBy::kQuality;  // for a price there may be room where a neighbour is broken already
  if (c.spec.policy == Policy::kRandom || c.spec.policy == Policy::kBatch) c.spec.policy = Policy::kPerTask;
  const size_t fits = most(c);
  const Decision decision = c.decide();
  RC_ASSERT(decision.claims.size() == fits);
  if (c.request.standard == Standard::kAcceptable && !c.request.tasks.empty()) {
    RC_ASSERT(decision.explanation.enoughFound == (fits == c.request.tasks.size()));
  }
  RC_TAG(fits == c.request.tasks.size());
}

RC_GTEST_PROP(Decisions, AccountForEveryDraw, ()) {
  const Case c;
  const Explanation e = c.decide().explanation;
  uint64_t accounted = e.acceptable;
  for (size_t reason = static_cast<size_t>(Dropped::kSpread); reason < kDropReasons; ++reason) {
    accounted += e.dropped[reason];
  }
  RC_ASSERT(accounted == e.drawn);
  uint32_t unsuited = 0, small = 0;
  for (ServerId id = 0; id < c.state.size(); ++id) {
    unsuited += c.mayUse(id) ? 0 : 1;
    const ServerStatus status = c.state.status(id);
    const bool drawable =
        c.mayUse(id) && status.up && !status.cordoned && haveExtras(status.freeExtras, c.spec.extras);
    small += drawable && status.free.size() > 0 && status.free.size() < c.spec.rusPerTask ? 1 : 0;
  }
  if (c.request.tasks.empty()) return;
  RC_ASSERT(droppedFor(e, Dropped::kConstraint) == unsuited);
  RC_ASSERT(droppedFor(e, Dropped::kNotEnoughFree) == small);
  RC_ASSERT(e.acceptable <= e.drawn);
  RC_ASSERT(e.seed == c.seed);
  RC_ASSERT(e.wanted == c.request.tasks.size());
  if (c.spec.policy != Policy::kPerTask) RC_ASSERT(e.drawn <= e.limit + droppedFor(e, Dropped::kSpread));
}

// The candidates of an explanation are servers that the job may use, as they were before it came.
RC_GTEST_PROP(Decisions, ExplainTheBestAsTheyAre, ()) {
  const Case c;
  const Explanation e = c.decide().explanation;
  RC_ASSERT(e.best.size() <= Explanation::kMaxCandidates);
  std::set<ServerId> seen;
  for (size_t i = 0; i < e.best.size(); ++i) {
    const Candidate& candidate = e.best[i];
    RC_ASSERT(seen.insert(candidate.server).second);
    RC_ASSERT(c.mayUse(candidate.server));
    const Filling filling(c, candidate.server);
    RC_ASSERT(candidate.s == filling.judgement().satisfaction);
    RC_ASSERT(candidate.q == q(filling.judgement()));
    RC_ASSERT(candidate.contention == c.state.vacancy(candidate.server).contention);
    RC_ASSERT(candidate.slack == slackLeft(c.state.vacancy(candidate.server)));
    const auto free = filling.status().free.first(std::min<uint32_t>(4, c.spec.rusPerTask));
    RC_ASSERT(std::vector<RuIndex>(candidate.rus.begin(), candidate.rus.begin() + candidate.rusCount) ==
              free);
    RC_ASSERT((candidate.after == TieBreak::kNone) == (i == 0));
  }
  if (c.spec.placement.preferOfTask.empty() && c.spec.placement.requireOfTask.empty() && e.drawn > 0)
    RC_ASSERT(e.best.size() > 0 || c.spec.placement.spread != Domain::kNone);
}

}  // namespace tarcil::soundness_test
