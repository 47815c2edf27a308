#include "core/decide/chooser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "core/model/constraint.h"
#include "core/model/sample_size.h"
#include "core/state/commit_check.h"
#include "tests/core/decide/deciding.h"
#include "tests/core/model/generators.h"
#include "tests/support/builders.h"

namespace tarcil::chooser_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr Resource kLlc = Resource::kLlc;
constexpr Resource kDisk = Resource::kDiskBandwidth;

Decision choose(const ClusterState& state, const JobSpec& spec, uint64_t seed = 1,
                const QualitySettings& settings = byQuality()) {
  return choose(state, placing(spec), settings, seed);
}

Decision chooseBest(const ClusterState& state, const JobSpec& spec) {
  PlacementRequest request = placing(spec);
  request.standard = Standard::kBestThereIs;
  return choose(state, request, byQuality(), 1);
}

// How many slots or servers were dropped, by the reason's name; without those of none.
std::map<std::string, uint32_t> dropped(const Decision& decision) {
  std::map<std::string, uint32_t> counts;
  for (size_t reason = 0; reason < kDropReasons; ++reason) {
    if (const uint32_t count = decision.explanation.dropped[reason]; count > 0)
      counts[dropName(reason)] = count;
  }
  return counts;
}

JobSpec constrained(JobSpec spec, std::initializer_list<const char*> constraints) {
  for (const char* text : constraints) spec.placement.constraints.push_back(*parseConstraint(text));
  return spec;
}

TEST(Choose, GivesADemandingJobTheQuietServer) {
  auto state = aCluster({aServer("noisy").background({{kLlc, 40}}), aServer("quiet")});
  EXPECT_THAT(places(state, choose(state, aJob(1, tolerating({{kLlc, 0}})))), ElementsAre("quiet"));
}

TEST(Choose, LeavesTheQuietServerToOthersWhereANoisyOneWillDo) {
  auto state = aCluster({aServer("noisy").background({{kLlc, 40}}), aServer("quiet")});
  EXPECT_THAT(places(state, choose(state, aJob(1, tolerating({{kLlc, 55}})))), ElementsAre("noisy"));
}

TEST(Choose, PutsPerformanceBeforeFit) {
  // With the margin E is 0.96 on the noisy server, two bands below the quiet one, though its Q is the higher.
  auto state = aCluster({aServer("noisy").background({{kLlc, 49}}), aServer("quiet")});
  EXPECT_THAT(places(state, choose(state, aJob(1, tolerating({{kLlc, 55}})))), ElementsAre("quiet"));
}

TEST(Choose, BreaksTiesByLoadOfTheServer) {
  auto state = aCluster({aServer("busy").holding({}, 2), aServer("idle"), aServer("busier").holding({}, 3)});
  EXPECT_THAT(places(state, choose(state, aJob(1))), ElementsAre("idle"));
}

TEST(Choose, NeverPilesAJobOntoOneServerUntilItBreaksItself) {
  auto state = aCluster(idle(4));
  const auto decision = choose(state, aJob(4, causing({{kLlc, 60}})));
  EXPECT_THAT(places(state, decision), UnorderedElementsAre("s0", "s1", "s2", "s3"));
  EXPECT_THAT(choose(state, aJob(8, causing({{kLlc, 60}}))).claims, SizeIs(4));
}

TEST(Choose, PacksAJobThatBearsItself) {
  auto state = aCluster(idle(4));
  // Three times 30 fit into 99.
  EXPECT_THAT(choose(state, aJob(16, causing({{kLlc, 30}}))).claims, SizeIs(12));
}

TEST(Choose, DoesNotBreakANeighbour) {
  auto state = aCluster({aServer("tender").holding(tolerating({{kLlc, 10}}))});
  JobSpec spec = aJob(1, causingAndTolerating({{kLlc, 20}}, {}));
  const auto decision = choose(state, spec);
  EXPECT_THAT(decision.claims, IsEmpty());
  EXPECT_THAT(dropped(decision), ElementsAre(Pair("neighbour:llc", 3)));
  spec.protectNeighbours = false;
  EXPECT_THAT(choose(state, spec).claims, SizeIs(1));
}

TEST(Choose, TurnsDownWhatIsBelowTheTargetUnlessThereIsNoBetter) {
  auto state = aCluster({aServer("bad").background({{kLlc, 60}}), aServer("worse").background({{kLlc, 90}})});
  const JobSpec spec = aJob(1, tolerating({{kLlc, 20}}));
  const auto refused = choose(state, spec);
  EXPECT_THAT(refused.claims, IsEmpty());
  EXPECT_THAT(dropped(refused), ElementsAre(Pair("quality", 8)));
  const auto taken = chooseBest(state, spec);
  EXPECT_THAT(places(state, taken), ElementsAre("bad"));
  EXPECT_EQ(taken.claims[0].floor, taken.claims[0].s);
}

TEST(Choose, NeverBreaksItselfEvenWhereThereIsNoBetter) {
  EXPECT_THAT(chooseBest(aCluster(idle(1)), aJob(2, causing({{kLlc, 60}}))).claims, SizeIs(1));
}

TEST(Choose, TakesAcceptableSlotsFirstEvenIfOthersWillDo) {
  auto state = aCluster({aServer("good").rus(1), aServer("bad").background({{kLlc, 60}})});
  const auto decision = chooseBest(state, aJob(3, tolerating({{kLlc, 20}})));
  EXPECT_THAT(places(state, decision), ElementsAre("good", "bad", "bad"));
}

TEST(Choose, HoldsThePlatformAgainstTheBestOneThatTheConstraintsLeave) {
  Profile profile;
  profile.platforms = {{"fast", 1.0}, {"slow", 0.7}};
  auto state = aCluster({aServer("slow").platform("slow"), aServer("fast").platform("fast").down()});
  EXPECT_THAT(choose(state, aJob(1, profile)).claims, IsEmpty());
  EXPECT_THAT(places(state, choose(state, constrained(aJob(1, profile), {"platform = slow"}))),
              ElementsAre("slow"));
}

TEST(Choose, KeepsToTheConstraintsHoweverFewServersMeetThem) {
  auto servers = idle(400);
  servers[317].attribute("gpu", "true");
  auto state = aCluster(servers);
  const auto decision = choose(state, constrained(aJob(2), {"gpu = true"}));
  EXPECT_THAT(places(state, decision), ElementsAre("s317", "s317"));
  EXPECT_EQ(dropped(decision)["constraint"], 399u);
}

TEST(Choose, SpreadsOverServers) {
  auto state = aCluster(idle(4));
  JobSpec spec = aJob(6);
  spec.placement.spread = Domain::kServer;
  spec.placement.atMost = 2;
  PlacementRequest request = placing(spec);
  request.placedOn = {0, 0, 1};
  const auto decision = choose(state, request, byQuality(), 1);
  EXPECT_THAT(places(state, decision), UnorderedElementsAre("s1", "s2", "s2", "s3", "s3"));
  EXPECT_GT(dropped(decision)["spread"], 0u);
}

TEST(Choose, CountsTasksPlacedBeforeInWhatSpreadLeaves) {
  auto state = aCluster(idle(2));
  JobSpec spec = aJob(4);
  spec.placement.spread = Domain::kServer;
  spec.placement.atMost = 2;
  PlacementRequest request = placing(spec);
  request.placedOn = {0};
  const auto decision = choose(state, request, byQuality(), 1);
  EXPECT_THAT(places(state, decision), UnorderedElementsAre("s0", "s1", "s1"));
  EXPECT_FALSE(decision.explanation.enoughFound);
}

TEST(Choose, SpreadsOverRacksAndTakesTheBestOfEach) {
  auto state = aCluster(
      {aServer("a").rack("1").background({{kLlc, 5}}), aServer("b").rack("1"), aServer("c").rack("2")});
  JobSpec spec = aJob(2, tolerating({{kLlc, 4}}));
  spec.placement.spread = Domain::kRack;
  QualitySettings settings = byQuality();
  settings.floor = 12;  // all there are
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_THAT(places(state, choose(state, spec, seed, settings)), UnorderedElementsAre("b", "c"));
  }
}

// Slots in a rack that has its tasks are nothing to choose from, and do not count as a part of the sample.
TEST(Choose, SpreadsAGangOverRacksOfWhichSomeAreSmall) {
  std::vector<ServerBuilder> servers;
  for (int i = 0; i < 200; ++i) servers.push_back(aServer("large" + std::to_string(i)).rack("1"));
  servers.push_back(aServer("small").rack("2"));
  servers.push_back(aServer("tiny").rack("3"));
  const auto state = aCluster(servers);
  JobSpec spec = aJob(3);
  spec.placement.spread = Domain::kRack;
  spec.schedule = Schedule::kGang;
  QualitySettings settings = byQuality();
  settings.ratio = 1;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto decision = choose(state, spec, seed, settings);
    EXPECT_EQ(decision.claims.size(), 3u);
    EXPECT_TRUE(decision.explanation.enoughFound);
  }
}

TEST(Choose, PrefersNamedServersAmongAcceptableOnes) {
  auto servers = idle(1000);
  servers[3].background({{kLlc, 99}});
  auto state = aCluster(servers);
  JobSpec spec = aJob(5, tolerating({{kLlc, 0}}));
  spec.placement.prefer = {"s3", "s7", "unheard-of"};
  const auto chosen = places(state, choose(state, spec));
  EXPECT_EQ(std::count(chosen.begin(), chosen.end(), "s7"), 4);
  EXPECT_EQ(std::count(chosen.begin(), chosen.end(), "s3"), 0);
  EXPECT_EQ(chosen.size(), 5u);
}

TEST(Choose, PlacesAGangAsAWholeOrNotAtAll) {
  auto state = aCluster(idle(2));
  JobSpec spec = aJob(9);
  EXPECT_THAT(choose(state, spec).claims, SizeIs(8));
  spec.schedule = Schedule::kGang;
  EXPECT_THAT(choose(state, spec).claims, IsEmpty());
  spec.tasks = 8;
  EXPECT_THAT(choose(state, spec).claims, SizeIs(8));
}

TEST(Choose, TakesSlotsOfSeveralUnitsOfOneServer) {
  auto state = aCluster({aServer("a").rus(7), aServer("b").rus(3).holding({}, 1)});
  JobSpec spec = aJob(9);
  spec.rusPerTask = 3;
  const auto decision = choose(state, spec);
  EXPECT_THAT(places(state, decision), ElementsAre("a", "a"));
  EXPECT_THAT(decision.claims[0].preferred, ElementsAre(0, 1, 2));
  EXPECT_THAT(decision.claims[1].preferred, ElementsAre(3, 4, 5));
  EXPECT_EQ(decision.explanation.drawn, 2u);
  EXPECT_THAT(dropped(decision), ElementsAre(Pair("not_enough_free", 1)));
}

TEST(Choose, FillsClaimsWithWhatTheMasterChecks) {
  auto state = aCluster({aServer("a").background({{kLlc, 3}})});
  const JobSpec spec = aJob(8, tolerating({{kLlc, 4}}));
  PlacementRequest retry{spec, {{5, 2}}, {}, Standard::kAcceptable};
  const Claim claim = choose(state, retry, byQuality(), 1).claims.at(0);
  EXPECT_EQ(claim.task, 5u);
  EXPECT_EQ(claim.attempt, 2u);
  EXPECT_EQ(claim.versionSeen, 1u);
  EXPECT_EQ(claim.floor, 0.95);
  EXPECT_DOUBLE_EQ(claim.s, 1 - 2.0 / 99);
}

TEST(Choose, StopsOnceEnoughIsFoundAndTheFloorIsMet) {
  auto state = aCluster(idle(100));
  EXPECT_EQ(choose(state, aJob(1)).explanation.drawn, 8u);
  EXPECT_EQ(choose(state, aJob(20)).explanation.drawn, 20u);
}

TEST(Choose, DrawsToTheLimitBeforeItGivesUp) {
  auto servers = idle(100);
  for (auto& server : servers) server.background({{kLlc, 90}});
  auto state = aCluster(servers);
  const JobSpec spec = aJob(2, tolerating({{kLlc, 0}}));
  const auto explanation = choose(state, spec).explanation;
  EXPECT_EQ(explanation.limit, drawsNeeded(0.05, 0.999, 2));
  EXPECT_EQ(explanation.drawn, explanation.limit);
  EXPECT_EQ(shareAcceptable(explanation), 0);
  EXPECT_GE(guarantee(explanation), 0.999);
  QualitySettings settings = byQuality();
  settings.cap = 32;
  const auto capped = choose(state, placing(spec), settings, 1).explanation;
  EXPECT_EQ(capped.drawn, 64u);
  EXPECT_EQ(guarantee(capped), guarantee(0.05, 64, 2));
}

// Where the first draws find nothing, whoever knows the servers says where to draw first.
TEST(Choose, DrawsOnWhereRareSlotsAreLikely) {
  auto servers = idle(1000);
  for (size_t i = 1; i < servers.size(); ++i) servers[i].background({{kLlc, 90}});
  auto state = aCluster(servers);
  const JobSpec spec = aJob(1, tolerating({{kLlc, 0}}));
  PlacementRequest request = placing(spec);
  size_t asked = 0;
  request.ask = [&asked](size_t atMost) {
    asked = atMost;
    return std::vector<ServerId>{7, 0, 3};
  };
  const Decision found = choose(state, request, byQuality(), 1);
  EXPECT_EQ(places(state, found), std::vector<std::string>{"s0"});
  EXPECT_EQ(asked, found.explanation.limit);
  EXPECT_EQ(found.explanation.drawn, 8u + 1 + 1) << "a server is left once a slot of it is rejected";
  request.ask = [](size_t) { return std::vector<ServerId>{7, 3}; };
  const Decision none = choose(state, request, byQuality(), 1);
  EXPECT_TRUE(none.claims.empty());
  EXPECT_EQ(none.explanation.drawn, none.explanation.limit + 2) << "what is named is drawn besides";
}

TEST(Choose, AsksNobodyWhereAcceptableSlotsAreNotRare) {
  auto state = aCluster(idle(100));
  const JobSpec spec = aJob(3);
  PlacementRequest request = placing(spec);
  request.ask = [](size_t) -> std::vector<ServerId> { throw std::logic_error("asked"); };
  EXPECT_EQ(choose(state, request, byQuality(), 1).claims.size(), 3u);
}

TEST(Choose, DrawsExactlyAFixedRatio) {
  auto state = aCluster(idle(100));
  QualitySettings settings = byQuality();
  settings.ratio = 5;
  const auto explanation = choose(state, aJob(10), 1, settings).explanation;
  EXPECT_EQ(explanation.drawn, 50u);
  EXPECT_EQ(ratio(explanation), 5);
}

TEST(Choose, ExplainsTheBestServersInOrder) {
  auto state = aCluster({aServer("a").background({{kLlc, 28}}), aServer("b").holding(causing({{kLlc, 20}})),
                         aServer("c").background({{kLlc, 90}})});
  const auto decision = choose(state, aJob(1, causing({{kLlc, 60}})), 9);
  const Explanation& explanation = decision.explanation;
  EXPECT_EQ(explanation.seed, 9u);
  EXPECT_EQ(explanation.wanted, 1u);
  EXPECT_EQ(explanation.placed, 1u);
  ASSERT_THAT(explanation.best, SizeIs(3));
  // The tightest fit first; beside it the next tight one; the one that misses the target last.
  EXPECT_EQ(explanation.best[0].server, 0u);
  EXPECT_EQ(explanation.best[1].server, 1u);
  EXPECT_EQ(explanation.best[2].server, 2u);
  EXPECT_EQ(explanation.best[1].after, TieBreak::kQ);
  EXPECT_EQ(explanation.best[2].after, TieBreak::kStanding);
  const Candidate& b = explanation.best[1];
  EXPECT_EQ(b.contention, pressure({{kLlc, 20}}));
  EXPECT_EQ(b.slack[static_cast<size_t>(kLlc)], 79);
  EXPECT_EQ(b.rus[0], 1);
  EXPECT_EQ(b.rusCount, 1);
  EXPECT_EQ(b.s, 1.0);
}

// Its tightest fit would be the loudest server there is.
TEST(Choose, TakesAJobOfWhichNothingIsKnownWhereLeastPresses) {
  auto state = aCluster(
      {aServer("loud").background({{kLlc, 90}}),
       aServer("spread").background(
           {{Resource::kCore, 30}, {Resource::kDiskBandwidth, 30}, {Resource::kNetworkBandwidth, 30}}),
       aServer("one").background({{Resource::kDiskBandwidth, 40}})});
  const auto decision = choose(state, aJob(1), 1);
  const Explanation& explanation = decision.explanation;
  ASSERT_THAT(explanation.best, SizeIs(3));
  EXPECT_EQ(explanation.best[0].server, 1u);
  EXPECT_EQ(explanation.best[1].server, 2u);
  EXPECT_EQ(explanation.best[2].server, 0u);
  EXPECT_EQ(explanation.best[1].after, TieBreak::kContention);
  EXPECT_EQ(explanation.best[2].s, 1.0) << "any slot satisfies it";
}

TEST(Choose, DecidesTheSameHoweverManyCandidatesItExplains) {
  std::vector<ServerBuilder> servers;
  for (int i = 0; i < 40; ++i) {
    servers.push_back(aServer("s" + std::to_string(i)).background({{kLlc, 2 * i}}));
  }
  const auto state = aCluster(servers);
  const JobSpec spec = aJob(12, causing({{kLlc, 40}}));
  PlacementRequest request = placing(spec);
  const Decision usual = choose(state, request, byQuality(), 7);
  for (size_t candidates : {0, 1, 64}) {
    request.candidates = candidates;
    const Decision decision = choose(state, request, byQuality(), 7);
    EXPECT_EQ(decision.claims, usual.claims) << candidates;
    EXPECT_LE(decision.explanation.best.size(), candidates);
  }
  EXPECT_GT(choose(state, request, byQuality(), 7).explanation.best.size(), Explanation::kMaxCandidates);
}

TEST(Choose, LeavesNothingToChanceWhereItMayLookAtEverything) {
  auto state = aCluster(idle(1));
  EXPECT_EQ(guarantee(choose(state, aJob(4)).explanation), 1.0);
  const auto tooMany = choose(state, aJob(5)).explanation;
  EXPECT_EQ(guarantee(tooMany), 1.0);
  EXPECT_TRUE(tooMany.allSeen);
  EXPECT_FALSE(tooMany.enoughFound);
}

// The promise is about the rarity, not about what this decision saw.
TEST(Choose, PromisesTheSameWhetherAcceptableSlotsWereManyOrFew) {
  auto servers = idle(1000);
  for (size_t i = 0; i < servers.size(); ++i) {
    if (i % 16 != 0) servers[i].background({{kLlc, 90}});
  }
  auto state = aCluster(servers);
  const auto scarce = choose(state, aJob(4, tolerating({{kLlc, 0}}))).explanation;
  const auto plenty = choose(state, aJob(4)).explanation;
  EXPECT_GE(guarantee(scarce), 0.999);
  EXPECT_EQ(guarantee(scarce), guarantee(plenty));
  EXPECT_GT(scarce.drawn, plenty.drawn);
}

TEST(Choose, CountsWhatOnlyTheJobItselfSpoils) {
  auto state = aCluster(idle(1));
  const auto decision = choose(state, aJob(2, causing({{kLlc, 60}})));
  EXPECT_THAT(dropped(decision), ElementsAre(Pair("taken", 3)));
  EXPECT_EQ(shareAcceptable(decision.explanation), 0.25);
}

TEST(Choose, FindsNothingInAnEmptyOrFullCluster) {
  EXPECT_THAT(choose(ClusterState(), aJob(1)).claims, IsEmpty());
  auto full = aCluster({aServer("a").holding({}, 4)});
  const auto decision = choose(full, aJob(1));
  EXPECT_THAT(decision.claims, IsEmpty());
  EXPECT_EQ(decision.explanation.drawn, 0u);
}

TEST(Choose, DecidesAlikeForTheSameSeed) {
  auto state = aCluster(idle(200));
  const auto spec = aJob(30, causing({{kLlc, 40}, {kDisk, 10}}));
  const auto first = choose(state, spec, 77), again = choose(state, spec, 77),
             other = choose(state, spec, 78);
  EXPECT_EQ(first.claims, again.claims);
  EXPECT_EQ(first.explanation, again.explanation);
  EXPECT_NE(first.claims, other.claims);
}

TEST(Choose, DrawsSlotsUniformly) {
  auto state = aCluster({aServer("a").rus(3), aServer("b").rus(8), aServer("c").rus(5)});
  JobSpec spec = aJob(1);
  spec.rusPerTask = 2;  // 1, 4 and 2 slots
  QualitySettings settings = byQuality();
  settings.ratio = 1;
  std::map<std::string, int> drawn;
  for (uint64_t seed = 0; seed < 7'000; ++seed)
    ++drawn[places(state, choose(state, spec, seed, settings)).at(0)];
  EXPECT_NEAR(drawn["a"], 1'000, 120);
  EXPECT_NEAR(drawn["b"], 4'000, 170);
  EXPECT_NEAR(drawn["c"], 2'000, 150);
}

// A cluster and a job with some of everything.
struct Case {
  ClusterState state;
  JobSpec spec;
  QualitySettings settings = byQuality();
  PlacementRequest request;

  Case() : state(anyCluster()), spec(anyJob()), request(placing(spec)) {
    settings.model = *rc::gen::element(QualityModel::kEncoded, QualityModel::kComponentwise);
    settings.contention = *rc::gen::element(ContentionModel::kSum, ContentionModel::kMean);
    state.setContention(settings.contention);
    settings.margin = *rc::gen::inRange(0, 10);
    settings.protectNeighbours = *rc::gen::arbitrary<bool>();
    request.standard = *rc::gen::element(Standard::kAcceptable, Standard::kBestThereIs);
  }

  static Profile anyProfile() {
    // Small pressures and much tolerance, so that many servers can hold several tasks and some cannot.
    Profile profile = *aProfile();
    for (uint8_t& caused : profile.caused) caused /= 5;
    for (uint8_t& tolerated : profile.tolerated)
      tolerated = static_cast<uint8_t>(kMaxPressure - tolerated / 3);
    return profile;
  }

  static ClusterState anyCluster() {
    std::vector<ServerBuilder> servers;
    for (int i = *rc::gen::inRange(0, 12); i > 0; --i) {
      auto server =
          aServer("s" + std::to_string(i)).rus(*rc::gen::inRange(1u, 9u)).rack(std::to_string(i % 3));
      if (*rc::gen::arbitrary<bool>()) server.holding(anyProfile());
      if (*rc::gen::inRange(0, 6) == 0) server.down();
      servers.push_back(server);
    }
    ClusterState state = aCluster(servers);
    state.setShare("reference", *aShare());
    return state;
  }

  static JobSpec anyJob() {
    JobSpec spec = aJob(*rc::gen::inRange(1u, 20u), anyProfile());
    spec.rusPerTask = *rc::gen::inRange(1u, 4u);
    spec.placement.spread = *rc::gen::element(Domain::kNone, Domain::kServer, Domain::kRack);
    spec.placement.atMost = *rc::gen::inRange(1u, 4u);
    if (*rc::gen::inRange(0, 4) == 0) spec.schedule = Schedule::kGang;
    return spec;
  }
};

RC_GTEST_PROP(Choose, MakesClaimsThatTheCommitCheckGrantsInOrder, ()) {
  const Case c;
  const Decision decision = choose(c.state, c.request, c.settings, *rc::gen::arbitrary<uint64_t>());
  const Judging judging = judgingFor(c.spec, c.settings);
  std::map<ServerId, ServerStatus> master;
  for (const Claim& claim : decision.claims) {
    const ServerFacts facts = c.state.facts(claim.server);
    const Share& share = c.state.shareOf(facts.platform);
    ServerStatus& status = master.try_emplace(claim.server, c.state.status(claim.server)).first->second;
    RC_ASSERT(checkClaim(claim, judging, c.spec, facts, status, share) == Verdict::kGranted);
    for (RuIndex ru : claim.preferred) RC_ASSERT(status.free.contains(ru));
    std::vector<Resident> residents;
    occupy(status, residents, {1, claim.preferred, c.spec.profile.caused, c.spec.profile.tolerated}, facts,
           share);
  }
  RC_TAG(decision.claims.size());
}

RC_GTEST_PROP(Choose, PlacesEachTaskOnceAndWithinTheSpread, ()) {
  const Case c;
  const Decision decision = choose(c.state, c.request, c.settings, *rc::gen::arbitrary<uint64_t>());
  std::map<std::string, uint32_t> inDomain;
  std::set<TaskIndex> tasks;
  for (const Claim& claim : decision.claims) {
    const ServerFacts facts = c.state.facts(claim.server);
    ++inDomain[c.spec.placement.spread == Domain::kRack ? facts.rack : facts.name];
    tasks.insert(claim.task);
  }
  RC_ASSERT(tasks.size() == decision.claims.size());
  if (c.spec.schedule == Schedule::kGang) RC_ASSERT(tasks.empty() || tasks.size() == c.spec.tasks);
  if (c.spec.placement.spread == Domain::kNone) return;
  for (const auto& [domain, count] : inDomain) RC_ASSERT(count <= c.spec.placement.atMost);
}

RC_GTEST_PROP(Choose, EveryDrawIsAcceptableOrDroppedForAReason, ()) {
  const Case c;
  const Explanation e = choose(c.state, c.request, c.settings, *rc::gen::arbitrary<uint64_t>()).explanation;
  uint32_t accounted = e.acceptable;
  for (size_t reason = static_cast<size_t>(Dropped::kSpread); reason < kDropReasons; ++reason) {
    accounted += e.dropped[reason];
  }
  RC_ASSERT(accounted == e.drawn);
}

TEST(Choose, ExceptedServersGetNoTask) {
  const ClusterState state = aCluster(idle(20, 4));
  const std::vector<ServerId> except{0, 3, 4, 7, 19};
  for (Policy policy :
       {Policy::kQuality, Policy::kGreedy, Policy::kRandom, Policy::kPerTask, Policy::kBatch}) {
    JobSpec spec = aJob(70);
    spec.policy = policy;
    PlacementRequest request = placing(spec);
    request.except = except;
    const Decision decision = choose(state, request, byQuality(), 1);
    EXPECT_LE(decision.claims.size(), 60u);
    EXPECT_GE(decision.claims.size(), 40u) << static_cast<int>(policy);
    for (const Claim& claim : decision.claims) {
      EXPECT_FALSE(std::ranges::binary_search(except, claim.server)) << static_cast<int>(policy);
    }
  }
}

TEST(Choose, ExceptedServersGetNoTaskByNameOrAsOthersOfARack) {
  const ClusterState state =
      aCluster({aServer("a").rack("r"), aServer("b").rack("r"), aServer("c").rack("r")});
  const std::vector<ServerId> except{1};
  JobSpec named = aJob(1);
  named.placement.prefer = {"b"};
  JobSpec packed = aJob(12);
  packed.placement.pack = Domain::kRack;
  for (const JobSpec& spec : {named, packed}) {
    PlacementRequest request = placing(spec);
    request.except = except;
    const Decision decision = choose(state, request, byQuality(), 1);
    EXPECT_FALSE(decision.claims.empty());
    for (const Claim& claim : decision.claims) EXPECT_NE(claim.server, 1u);
  }
}

}  // namespace tarcil::chooser_test
