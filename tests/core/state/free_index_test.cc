// Draws are uniform over free units, and the index is what its servers make it, whatever happened before.
#include "core/state/free_index.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "core/state/server_set.h"
#include "tests/support/chi_square.h"

namespace tarcil::free_index_test {

// Draws so many times for each unit, and counts by server.
ChiSquare drawnByServer(const FreeIndex& index, const std::map<ServerId, uint32_t>& units, uint32_t least,
                        double perUnit, Rng& rng) {
  uint64_t total = 0;
  for (const auto& [server, count] : units) total += count >= least ? count : 0;
  const FreeIndex::Draws draws(index, least);
  std::map<ServerId, double> drawn;
  for (auto i = static_cast<uint64_t>(perUnit * static_cast<double>(total)); i > 0; --i) {
    const FreeIndex::Drawn one = draws.next(rng);
    ++drawn[one.server];
    EXPECT_LT(one.unit, units.at(one.server));
  }
  ChiSquare seen;
  for (const auto& [server, count] : units) {
    if (count >= least) {
      seen.add(drawn[server], perUnit * count);
    } else {
      EXPECT_EQ(drawn.count(server), 0u) << server;
    }
  }
  return seen;
}

// Server numbers and units that fill classes of one number, classes of several, and leave gaps.
std::map<ServerId, uint32_t> someServers() {
  std::map<ServerId, uint32_t> units;
  for (ServerId server = 0; server < 60; ++server) {
    if (server % 7 != 3) units[server] = 1 + server % 41;
  }
  units[61] = 64;
  units[62] = 65;
  units[80] = 150;
  return units;
}

TEST(FreeIndex, DrawsUniformlyOverUnits) {
  const auto units = someServers();
  FreeIndex index;
  for (const auto& [server, count] : units) index.set(server, count);
  Rng rng(11);
  const ChiSquare drawn = drawnByServer(index, units, 1, 30, rng);
  EXPECT_LT(drawn.sum(), drawn.bound());
}

TEST(FreeIndex, DrawsUniformlyOverServersWithEnough) {
  const auto units = someServers();
  FreeIndex index;
  for (const auto& [server, count] : units) index.set(server, count);
  for (uint32_t least : {2u, 31u, 33u, 36u, 41u, 60u, 64u, 65u}) {
    Rng rng(least);
    const ChiSquare drawn = drawnByServer(index, units, least, 30, rng);
    EXPECT_LT(drawn.sum(), drawn.bound()) << "least " << least;
  }
  Rng rng(1);
  EXPECT_EQ(FreeIndex::Draws(index, 66).next(rng).server, 80u);
  EXPECT_EQ(FreeIndex::Draws(index, 150).next(rng).server, 80u);
  EXPECT_TRUE(FreeIndex::Draws(index, 151).empty());
}

TEST(FreeIndex, DrawsAsManyAtOnceAsOneByOne) {
  const auto units = someServers();
  FreeIndex index;
  for (const auto& [server, count] : units) index.set(server, count);
  const FreeIndex::Draws draws(index, 35);
  Rng rng(14);
  std::map<ServerId, double> drawn;
  std::vector<FreeIndex::Drawn> many(FreeIndex::Draws::kMany);
  double total = 0;
  for (int i = 0; i < 500; ++i) {
    draws.next(rng, many);
    for (const FreeIndex::Drawn& one : many) ++drawn[one.server];
  }
  for (const auto& [server, times] : drawn) total += units.at(server);
  ChiSquare seen;
  for (const auto& [server, times] : drawn) {
    seen.add(times, 500.0 * static_cast<double>(many.size()) * units.at(server) / total);
  }
  EXPECT_LT(seen.sum(), seen.bound());
}

TEST(FreeIndex, DrawsUniformlyAfterManyChanges) {
  FreeIndex index;
  std::map<ServerId, uint32_t> units;
  Rng rng(12);
  for (int change = 0; change < 20'000; ++change) {
    const auto server = static_cast<ServerId>(rng.below(40));
    const auto count = static_cast<uint32_t>(rng.below(8) == 0 ? 0 : rng.below(100));
    index.set(server, count);
    units[server] = count;
  }
  std::erase_if(units, [](const auto& entry) { return entry.second == 0; });
  const ChiSquare drawn = drawnByServer(index, units, 1, 20, rng);
  EXPECT_LT(drawn.sum(), drawn.bound());
}

// Within a server every unit comes equally often, too.
TEST(FreeIndex, DrawsEveryUnitOfAServerEquallyOften) {
  FreeIndex index;
  index.set(0, 37);
  index.set(1, 5);
  Rng rng(13);
  std::vector<double> drawn(37);
  for (int i = 0; i < 42'000; ++i) {
    const FreeIndex::Drawn one = FreeIndex::Draws(index).next(rng);
    if (one.server == 0) ++drawn[one.unit];
  }
  ChiSquare seen;
  for (double times : drawn) seen.add(times, 1'000);
  EXPECT_LT(seen.sum(), seen.bound());
}

rc::Gen<uint32_t> someUnits() {
  return rc::gen::oneOf(rc::gen::inRange(0u, 40u), rc::gen::inRange(0u, 5'000u),
                        rc::gen::element(0u, 32u, 33u, 64u, 65u, 4'096u, 65'535u));
}

// By any way that leads to the same servers with the same units, the index is the same.
RC_GTEST_PROP(FreeIndex, IsWhatItsServersMakeItAfterAnyHistory, ()) {
  FreeIndex index;
  std::map<ServerId, uint32_t> units;
  for (int changes = *rc::gen::inRange(0, 200); changes > 0; --changes) {
    const auto server = *rc::gen::inRange<ServerId>(0, 20);
    units[server] = *someUnits();
    index.set(server, units[server]);
  }
  std::erase_if(units, [](const auto& entry) { return entry.second == 0; });
  uint64_t total = 0;
  for (const auto& [server, count] : units) total += count;
  RC_ASSERT(index.units() == total);
  for (ServerId server = 0; server < 25; ++server) {
    RC_ASSERT(index.unitsOf(server) == (units.count(server) != 0 ? units[server] : 0));
  }
  std::set<ServerId> visited;
  index.forEach([&](ServerId server) { RC_ASSERT(visited.insert(server).second); });
  RC_ASSERT(visited.size() == units.size());
  for (ServerId server : visited) RC_ASSERT(units.count(server) == 1u);

  const auto least = *rc::gen::oneOf(rc::gen::inRange(1u, 40u), rc::gen::inRange(1u, 5'000u));
  uint32_t below = 0;
  for (const auto& [server, count] : units) below += count < least ? 1 : 0;
  RC_ASSERT(index.serversBelow(least) == below);
  Rng rng(3);
  const FreeIndex::Draws draws(index, least);
  RC_ASSERT(draws.empty() == (below == units.size()));
  if (draws.empty()) return;
  std::vector<FreeIndex::Drawn> drawn(*rc::gen::inRange<size_t>(0, FreeIndex::Draws::kMany + 1));
  draws.next(rng, drawn);
  for (const FreeIndex::Drawn& one : drawn) {
    RC_ASSERT(units[one.server] >= least);
    RC_ASSERT(one.unit < units[one.server]);
  }
}

// A server set is its members, their platforms and their units.
RC_GTEST_PROP(ServerSet, IsWhatItsMembersMakeItAfterAnyHistory, ()) {
  struct Member {
    PlatformId platform;
    ServerSet::Units units;
    uint32_t drawable;
  };
  ServerSet set;
  std::map<ServerId, Member> members;
  for (int changes = *rc::gen::inRange(0, 100); changes > 0; --changes) {
    const auto server = *rc::gen::inRange<ServerId>(0, 12);
    const ServerSet::Units units{.usable = *rc::gen::inRange<uint16_t>(50, 60),
                                 .free = *rc::gen::inRange<uint16_t>(40, 50)};
    const auto drawable = *rc::gen::inRange(0u, 40u);
    if (!set.contains(server)) {
      members[server] = {*rc::gen::inRange<PlatformId>(0, 3), units, drawable};
      set.join(server, members[server].platform, units, drawable);
    } else if (*rc::gen::arbitrary<bool>()) {
      set.change(server, members[server].units, units, drawable);
      members[server].units = units;
      members[server].drawable = drawable;
    } else {
      set.part(server, members[server].platform, members[server].units);
      members.erase(server);
    }
  }
  std::vector<uint32_t> byPlatform(3);
  uint64_t drawable = 0, free = 0, usable = 0;
  for (const auto& [server, member] : members) {
    RC_ASSERT(set.contains(server));
    RC_ASSERT(set.free().unitsOf(server) == member.drawable);
    ++byPlatform[member.platform];
    drawable += member.drawable;
    free += member.units.free;
    usable += member.units.usable;
  }
  RC_ASSERT(set.servers() == members.size());
  RC_ASSERT(set.free().units() == drawable);
  RC_ASSERT(set.freeUnits() == free);
  RC_ASSERT(set.usableUnits() == usable);
  for (size_t platform = 0; platform < 3; ++platform) {
    const auto& counted = set.byPlatform();
    RC_ASSERT((platform < counted.size() ? counted[platform] : 0) == byPlatform[platform]);
  }
}

}  // namespace tarcil::free_index_test
