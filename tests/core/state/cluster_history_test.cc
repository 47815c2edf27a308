// After any history a cluster state is what its servers' newest facts and states, the overlays, the shares
// and the contention model make it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/constraint.h"
#include "core/model/residents.h"
#include "core/state/cluster_state.h"
#include "core/state/occupancy.h"
#include "tests/core/model/generators.h"

namespace tarcil::cluster_history_test {

constexpr ServerId kServers = 6;

// What the state must look like, kept the slow way.
struct Model {
  struct Laid {
    ServerId server = 0;
    std::vector<RuIndex> rus;
    Profile profile;
    Extras extras;
    ByteRequest request{};
  };
  std::map<ServerId, ServerFacts> facts;
  std::map<ServerId, ServerStatus> base;
  std::map<ClusterState::OverlayId, Laid> overlays;
  std::map<std::string, Share> shares;
  ContentionModel contention = ContentionModel::kSum;

  Share share(const std::string& platform) const {
    const auto it = shares.find(platform);
    return it == shares.end() ? fullShare() : it->second;
  }

  ServerStatus status(ServerId id) const {
    ServerStatus status = base.at(id);
    for (const auto& [number, laid] : overlays) {
      if (laid.server != id) continue;
      layOn(status, laid.rus, laid.profile.caused, laid.profile.tolerated, share(facts.at(id).platform));
      takeExtras(status.freeExtras, lowestExtras(status.freeExtras, laid.extras));
      status.allocated += claimed(laid.request, laid.rus.size(), byteSupplyOf(facts.at(id)));
    }
    return status;
  }

  Vacancy vacancy(ServerId id) const {
    Vacancy vacancy = vacancyOf(status(id), facts.at(id).rus, share(facts.at(id).platform), contention);
    vacancy.lacksBytes = fitting(id, ByteRequest{.rus = status(id).free.size()}) == 0;
    return vacancy;
  }

  // How many tasks with this request the memory and disk of the server suffice for.
  uint64_t fitting(ServerId id, const ByteRequest& request) const {
    const ByteSupply supply = byteSupplyOf(facts.at(id));
    return timesFitting(supply.allocatable, status(id).allocated, claimed(request, request.rus, supply));
  }

  bool meets(ServerId id, const ServerNeeds& needs) const {
    const auto attributes = constraintAttributes(facts.at(id));
    return haveExtras(allExtras(facts.at(id).extras), needs.extras) &&
           timesFitting(byteSupplyOf(facts.at(id)).allocatable, {}, needs.bytes) > 0 &&
           std::all_of(needs.constraints.begin(), needs.constraints.end(),
                       [&](const Constraint& c) { return tarcil::meets(c, attributes); });
  }

  uint32_t drawable(ServerId id, const ServerNeeds& needs) const {
    const ServerStatus now = status(id);
    const bool usable = now.up && !now.cordoned && haveExtras(now.freeExtras, needs.extras);
    if (!usable) return 0;
    if (needs.bytes != ByteResources{}) {
      return timesFitting(byteSupplyOf(facts.at(id)).allocatable, now.allocated, needs.bytes) > 0
                 ? now.free.size()
                 : 0;
    }
    return static_cast<uint32_t>(std::min<uint64_t>(now.free.size(), fitting(id, {})));
  }
};

std::string anyOf(const char* prefix, int count) {
  return prefix + std::to_string(*rc::gen::inRange(0, count));
}

// Of the server with this number, which may have borne another name, but none that another server has.
ServerFacts factsOf(ServerId id) {
  ServerFacts facts;
  facts.name = "s" + std::to_string(id + kServers * *rc::gen::inRange<ServerId>(0, 2));
  facts.platform = anyOf("p", 3);
  facts.rack = anyOf("r", 3);
  if (*rc::gen::arbitrary<bool>()) facts.attributes["zone"] = anyOf("z", 2);
  if (*rc::gen::arbitrary<bool>()) facts.attributes["speed"] = std::to_string(*rc::gen::inRange(0, 5));
  if (*rc::gen::arbitrary<bool>()) facts.extras["gpus"] = *rc::gen::inRange(1u, 4u);
  facts.rus = *rc::gen::element(1u, 8u, 64u, 70u, 130u);
  facts.cores = *rc::gen::inRange(1u, 9u);
  facts.memoryBytes = *rc::gen::inRange<uint64_t>(0, 1 << 20);
  facts.memoryOvercommit = *rc::gen::element(100u, 150u);
  facts.diskBytes = *rc::gen::element<uint64_t>(0, 1 << 20);
  facts.address = anyOf("a", 3);
  facts.emulated = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) facts.missing = {"perf"};
  return facts;
}

ByteRequest anyRequest() {
  return {{*rc::gen::element<uint64_t>(0, 1 << 10, 1 << 19), *rc::gen::element<uint64_t>(0, 1 << 18)}, 1};
}

ServerStatus anyStatus(const ServerFacts& facts) {
  std::vector<Resident> residents;
  ServerStatus status;
  rebuild(status, {}, facts, fullShare());
  for (int tasks = *rc::gen::inRange(0, 4); tasks > 0; --tasks) {
    const Profile profile = *aProfile();
    occupy(status, residents,
           {0, status.free.first(*rc::gen::element(1u, 3u, 65u)), profile.caused, profile.tolerated,
            lowestExtras(status.freeExtras, {{"gpus", *rc::gen::inRange(0u, 2u)}}), anyRequest()},
           facts, fullShare());
  }
  status.version = *rc::gen::inRange<uint64_t>(1, 12);
  status.up = *rc::gen::inRange(0, 5) > 0;
  status.cordoned = *rc::gen::inRange(0, 5) == 0;
  status.background = *aPressure();
  return status;
}

// Asked for again and again, so that kept sets see changes; more than are kept, so that some are made anew.
std::vector<ServerNeeds> someNeeds() {
  std::vector<ServerNeeds> needs(1);
  for (const char* text : {"platform = p0", "platform != p1", "rack in (r0, r2)", "zone exists", "speed > 2",
                           "server = s3", "server not in (s1, s2)", "zone != z0"}) {
    needs.push_back({{*parseConstraint(text)}, {}});
    needs.push_back({{*parseConstraint(text)}, {{"gpus", 1}}});
  }
  needs.push_back({{}, {{"gpus", 2}}});
  needs.push_back({{}, {}, {1 << 18, 0}});
  needs.push_back({{*parseConstraint("zone exists")}, {}, {1 << 10, 1 << 18}});
  needs.push_back({{*parseConstraint("zone = z1"), *parseConstraint("rack = r1")}, {}});
  return needs;
}

void check(const ClusterState& state, const Model& model, const ServerNeeds& needs) {
  const ServerSet& set = state.meeting(needs);
  std::map<std::string, uint32_t> byPlatform;
  uint32_t servers = 0;
  uint64_t units = 0;
  for (const auto& [id, facts] : model.facts) {
    const bool member = model.meets(id, needs);
    RC_ASSERT(set.contains(id) == member);
    RC_ASSERT(set.free().unitsOf(id) == (member ? model.drawable(id, needs) : 0));
    servers += member ? 1 : 0;
    units += member ? model.drawable(id, needs) : 0;
    if (member) ++byPlatform[facts.platform];
  }
  RC_ASSERT(set.servers() == servers);
  RC_ASSERT(set.free().units() == units);
  for (size_t platform = 0; platform < set.byPlatform().size(); ++platform) {
    RC_ASSERT(set.byPlatform()[platform] ==
              byPlatform[state.platformName(static_cast<PlatformId>(platform))]);
  }
}

void check(const ClusterState& state, const Model& model) {
  std::map<std::string, uint32_t> platforms;
  for (ServerId id = 0; id < kServers + 2; ++id) RC_ASSERT(state.known(id) == (model.facts.count(id) == 1));
  for (const auto& [id, facts] : model.facts) {
    ++platforms[facts.platform];
    RC_ASSERT(state.facts(id) == facts);
    RC_ASSERT(state.name(id) == facts.name);
    RC_ASSERT(state.address(id) == facts.address);
    const ServerStatus expected = model.status(id);
    RC_ASSERT(state.status(id) == expected);
    Vacancy vacancy = state.vacancy(id);
    RC_ASSERT(state.platformName(vacancy.platform) == facts.platform);
    RC_ASSERT(state.rackName(vacancy.rack) == facts.rack);
    const auto& inRack = state.serversIn(vacancy.rack);
    RC_ASSERT(std::count(inRack.begin(), inRack.end(), id) == 1);
    vacancy.platform = 0;
    vacancy.rack = 0;
    RC_ASSERT(vacancy == model.vacancy(id));
    RC_ASSERT(state.share(state.vacancy(id).platform) == model.share(facts.platform));
    std::vector<RuIndex> lowest(5);
    lowest.resize(state.lowestFree(id, lowest, 2));
    const auto first = expected.free.first(7);
    RC_ASSERT(lowest == std::vector<RuIndex>(first.begin() + std::min<std::ptrdiff_t>(2, std::ssize(first)),
                                             first.end()));
    for (uint32_t gpus : {1u, 2u}) {
      RC_ASSERT(state.hasExtras(id, {{"gpus", gpus}}) == haveExtras(expected.freeExtras, {{"gpus", gpus}}));
      RC_ASSERT(state.hasExtras(id, {{"gpus", 1}}, gpus) == state.hasExtras(id, {{"gpus", gpus}}));
    }
  }
  RC_ASSERT(state.platforms() == platforms);
}

void checkNames(const ClusterState& state, const Model& model) {
  std::map<std::string, ServerId> named;
  for (const auto& [id, facts] : model.facts) named[facts.name] = id;
  for (ServerId number = 0; number < 2 * kServers; ++number) {
    const std::string name = "s" + std::to_string(number);
    const auto found = state.find(name);
    RC_ASSERT(found.has_value() == (named.count(name) == 1));
    if (found) RC_ASSERT(*found == named[name]);
  }
}

struct History {
  ClusterState state;
  Model model;

  void step() {
    const auto id = *rc::gen::inRange<ServerId>(0, kServers);
    const bool known = model.facts.count(id) != 0;
    switch (*rc::gen::inRange(0, 8)) {
      case 0:
        return update(id, factsOf(id));
      case 1:
      case 2:
        return update(id, std::nullopt);
      case 3: {
        if (!known) return;
        // As a master does after its server came back as another: the same state, newer.
        ServerFacts facts = model.facts[id];
        facts.platform = anyOf("p", 3);
        return update(id, facts);
      }
      case 4: {
        if (!known) return;
        const Model::Laid laid{
            id, model.status(id).free.first(*rc::gen::inRange(0u, 3u)), *aProfile(),
            *rc::gen::arbitrary<bool>() ? Extras{} : Extras{{"gpus", *rc::gen::inRange(1u, 3u)}},
            anyRequest()};
        if (!haveExtras(model.status(id).freeExtras, laid.extras)) return;
        model.overlays[state.layOver(id, laid.rus, laid.profile, laid.extras, laid.request)] = laid;
        return;
      }
      case 5: {
        const auto overlay = *rc::gen::inRange<ClusterState::OverlayId>(1, 20);
        state.lift(overlay);
        model.overlays.erase(overlay);
        return;
      }
      case 6: {
        const std::string platform = anyOf("p", 4);
        state.setShare(platform, model.shares[platform] = *aShare());
        return;
      }
      default:
        state.setContention(model.contention =
                                *rc::gen::element(ContentionModel::kSum, ContentionModel::kMean));
    }
  }

  void update(ServerId id, const std::optional<ServerFacts>& facts) {
    const bool known = model.facts.count(id) != 0;
    const ServerFacts held = facts ? *facts : known ? model.facts[id] : ServerFacts{};
    const ServerUpdate update{id, facts, anyStatus(held)};
    state.apply(update);
    if (!known && !facts) return;
    if (!known || update.status.version > model.base[id].version) model.base[id] = update.status;
    if (facts) model.facts[id] = *facts;
  }
};

RC_GTEST_PROP(ClusterHistory, LeavesWhatScratchMakes, ()) {
  History history;
  const auto needs = someNeeds();
  for (int steps = *rc::gen::inRange(0, 80); steps > 0; --steps) {
    history.step();
    if (*rc::gen::inRange(0, 3) == 0) check(history.state, history.model, *rc::gen::elementOf(needs));
  }
  check(history.state, history.model);
  checkNames(history.state, history.model);
  for (const ServerNeeds& each : needs) check(history.state, history.model, each);
}

// The server as it will be with tasks of a job is the server with them laid over.
RC_GTEST_PROP(ClusterHistory, ShowsAServerWithTasksAsIfTheyWereLaidOver, ()) {
  History history;
  for (int steps = *rc::gen::inRange(1, 30); steps > 0; --steps) history.step();
  ClusterState& state = history.state;
  if (history.model.facts.empty()) return;
  const ServerId id = history.model.facts.begin()->first;
  const Profile profile = *aProfile();
  const auto rus = *rc::gen::inRange(1u, 4u);
  const auto count = *rc::gen::inRange(0u, 4u);
  if (state.status(id).free.size() < rus * count) return;
  const Share share = state.share(state.vacancy(id).platform);
  Vacancy shown =
      state.vacancyWith(id, {profile.caused, boundOf(profile.caused, profile.tolerated, share), rus}, count);
  for (uint32_t task = 0; task < count; ++task) state.layOver(id, state.status(id).free.first(rus), profile);
  shown.lacksBytes = state.vacancy(id).lacksBytes;  // what is claimed besides is not told
  RC_ASSERT(shown == state.vacancy(id));
}

}  // namespace tarcil::cluster_history_test
