#include "core/decide/sampler.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "tests/support/chi_square.h"

namespace tarcil::sampler_test {

using Units = std::map<ServerId, uint32_t>;

// Servers of a cluster of `servers`, of which these may be used.
struct Cluster {
  ServerSet set;
  std::vector<Vacancy> records;

  Cluster(ServerId servers, const Units& units) : records(servers) {
    for (const auto& [server, count] : units) set.join(server, 0, {}, count);
  }
};

std::vector<SlotSampler::Slot> drawn(SlotSampler& sampler, size_t count) {
  std::vector<SlotSampler::Slot> slots;
  sampler.draw(count, slots);
  return slots;
}

Units slotsOf(const Units& units, uint32_t rus) {
  Units slots;
  for (const auto& [server, count] : units) {
    if (count >= rus) slots[server] = count / rus;
  }
  return slots;
}

uint32_t sum(const Units& counts) {
  uint32_t total = 0;
  for (const auto& [server, count] : counts) total += count;
  return total;
}

// Servers of few and of many units, some without a whole slot, some that may not be used in between.
const Units kUnits = {{2, 3}, {3, 8}, {5, 5}, {7, 1}, {11, 40}, {12, 2}, {13, 33}};

// Drawing without replacement, a slot comes in each place with the same probability: first, in the middle,
// when draws miss often, and last.
TEST(SlotSampler, DrawsEachSlotEquallyOftenInEachPlace) {
  constexpr int kSamples = 40'000;
  for (uint32_t rus : {1u, 2u, 3u}) {
    const Cluster cluster(20, kUnits);
    const Units slots = slotsOf(kUnits, rus);
    const size_t all = sum(slots);
    Rng rng(rus);
    SlotSampler sampler;
    std::map<size_t, std::map<ServerId, double>> inPlace = {
        {0, {}}, {all / 2, {}}, {all * 9 / 10, {}}, {all - 1, {}}};
    for (int i = 0; i < kSamples; ++i) {
      sampler.start(cluster.set, cluster.records, rus, rng);
      const auto sample = drawn(sampler, all);
      ASSERT_EQ(sample.size(), all);
      for (auto& [place, servers] : inPlace) ++servers[sample[place].server];
    }
    for (auto& [place, servers] : inPlace) {
      ChiSquare seen;
      for (const auto& [server, count] : slots) {
        seen.add(servers[server], static_cast<double>(kSamples) * count / static_cast<double>(all));
      }
      EXPECT_LT(seen.sum(), seen.bound()) << rus << " units, place " << place;
    }
  }
}

TEST(SlotSampler, DrawsPairsAsIfFromOneUrn) {
  constexpr int kSamples = 60'000;
  const Cluster cluster(20, kUnits);
  const Units slots = slotsOf(kUnits, 2);
  const double all = sum(slots);
  Rng rng(5);
  SlotSampler sampler;
  std::map<std::pair<ServerId, ServerId>, double> pairs;
  for (int i = 0; i < kSamples; ++i) {
    sampler.start(cluster.set, cluster.records, 2, rng);
    const auto sample = drawn(sampler, 2);
    ++pairs[{sample[0].server, sample[1].server}];
  }
  ChiSquare seen;
  for (const auto& [first, ofFirst] : slots) {
    for (const auto& [second, ofSecond] : slots) {
      const double left = ofSecond - (first == second ? 1.0 : 0.0);
      const double expected = kSamples * ofFirst * left / (all * (all - 1));
      if (expected > 0) {
        seen.add(pairs[{first, second}], expected);
      } else {
        EXPECT_EQ(pairs.count({first, second}), 0u);
      }
    }
  }
  EXPECT_LT(seen.sum(), seen.bound());
}

TEST(SlotSampler, DrawsFromFewOfManyServers) {
  Units units;
  for (ServerId server = 777; server < 20'000; server += 4'000) units[server] = 10;
  const Cluster cluster(20'000, units);
  Rng rng(6);
  SlotSampler sampler;
  std::map<ServerId, double> first;
  for (int i = 0; i < 10'000; ++i) {
    sampler.start(cluster.set, cluster.records, 1, rng);
    ++first[drawn(sampler, 1).at(0).server];
  }
  ChiSquare seen;
  for (const auto& [server, count] : units) seen.add(first[server], 2'000);
  EXPECT_LT(seen.sum(), seen.bound());
}

// In portions of any size, with slots taken by name before, every slot comes exactly once and servers are
// numbered as they are met.
RC_GTEST_PROP(SlotSampler, DrawsEverySlotOnce, ()) {
  const auto servers = *rc::gen::inRange<ServerId>(1, 300);
  Units units;
  for (ServerId server = 0; server < servers; ++server) {
    if (*rc::gen::inRange(0, 3) > 0) units[server] = *rc::gen::element(0u, 1u, 2u, 3u, 7u, 10u, 35u, 100u);
  }
  Cluster cluster(servers, units);
  Rng rng(*rc::gen::arbitrary<uint64_t>());
  SlotSampler sampler;
  for (int samples = *rc::gen::inRange(1, 4); samples > 0; --samples) {  // one sampler serves many samples
    const auto rus = *rc::gen::inRange(1u, 6u);
    Units left = slotsOf(units, rus);
    sampler.start(cluster.set, cluster.records, rus, rng);
    std::vector<SlotSampler::Slot> slots;
    for (int takes = *rc::gen::inRange(0, 10); takes > 0; --takes) {
      const auto server = *rc::gen::inRange<ServerId>(0, servers);
      const auto slot = sampler.take(server);
      RC_ASSERT(slot.has_value() == (left.count(server) != 0 && left[server] > 0));
      if (!slot) continue;
      RC_ASSERT(slot->server == server);
      slots.push_back(*slot);
      --left[server];
    }
    const uint32_t drawable = sum(left);
    const auto portion = *rc::gen::element<size_t>(1, 3, 64, 65, 1'000);
    const auto wanted = *rc::gen::inRange<size_t>(0, drawable + 20);
    std::vector<SlotSampler::Slot> drawn;
    while (drawn.size() < wanted) {
      const size_t before = drawn.size(), count = std::min(portion, wanted - before);
      sampler.draw(count, drawn);
      RC_ASSERT(drawn.size() == std::min<size_t>(before + count, drawable));
      if (drawn.size() < before + count) break;
    }
    for (const SlotSampler::Slot& slot : drawn) {
      RC_ASSERT(left[slot.server] > 0u);
      --left[slot.server];
      slots.push_back(slot);
    }
    std::map<ServerId, uint32_t> numbers;
    std::map<uint32_t, ServerId> numbered;
    for (const SlotSampler::Slot& slot : slots) {
      RC_ASSERT(slot.number < sampler.met());
      RC_ASSERT(numbers.try_emplace(slot.server, slot.number).first->second == slot.number);
      RC_ASSERT(numbered.try_emplace(slot.number, slot.server).first->second == slot.server);
    }
  }
}

}  // namespace tarcil::sampler_test
