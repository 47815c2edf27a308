// The explanation of a decision is small enough to be kept with each, and stays what it was.
#include <capnp/message.h>
#include <capnp/serialize.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/decide/chooser.h"
#include "schema/convert.h"
#include "tests/support/builders.h"

namespace tarcil::explanation_test {

constexpr size_t kMaxBytes = 560;

// Every number as large, every list as long as it can be.
Explanation largest() {
  constexpr auto kMax = std::numeric_limits<uint32_t>::max();
  Explanation e;
  e.freeSlots = e.drawn = e.acceptable = kMax;
  e.rarity = 0.0123456;
  e.limit = e.seed = std::numeric_limits<uint64_t>::max();
  e.confidence = 0.999999;
  e.allSeen = e.enoughFound = true;
  e.margin = kMaxPressure;
  e.price = 0.123456;
  e.waitingJobs = kMax;
  e.dropped.fill(kMax);
  e.wanted = e.sought = e.placed = kMaxTasks;
  for (size_t i = 0; i < Explanation::kMaxCandidates; ++i) {
    Candidate candidate;
    candidate.server = kMax;
    candidate.rus.fill(kMaxServerRus - 1);
    candidate.rusCount = static_cast<uint8_t>(candidate.rus.size());
    candidate.contention = Profile::filled(kMaxPressure);
    candidate.slack = Profile::filled(Vacancy::kUnbounded);
    candidate.q = 1.0 / 3;
    candidate.s = 2.0 / 3;
    candidate.cost = 0.1F;
    candidate.after = TieBreak::kChance;
    e.best.push_back(candidate);
  }
  return e;
}

size_t bytesOf(const Explanation& explanation) {
  capnp::MallocMessageBuilder message;
  write(explanation, message.initRoot<wire::Explanation>());
  EXPECT_EQ(read(message.getRoot<wire::Explanation>().asReader()), explanation);
  return capnp::computeSerializedSizeInWords(message) * sizeof(capnp::word);
}

TEST(Explanation, IsSmallAtItsLargest) {
  EXPECT_LE(bytesOf(largest()), kMaxBytes);
}

TEST(Explanation, OfADecisionOverServersOfLongNamesIsSmallAndStaysWhatItWas) {
  std::vector<ServerBuilder> servers;
  for (int i = 0; i < 50; ++i) {
    const std::string number = std::to_string(i);
    servers.push_back(
        aServer(std::string(200, 'n') + number).platform(std::string(200, 'p') + number).rus(8));
    servers.back().rack(std::string(200, 'r') + number).holding(tolerating({{Resource::kLlc, i}}));
    servers.back().background({{Resource::kDiskBandwidth, 2 * i}});
  }
  const ClusterState state = aCluster(servers);
  JobSpec spec = aJob(60, causing({{Resource::kLlc, 20}, {Resource::kDiskBandwidth, 30}}));
  spec.rusPerTask = 4;
  QualitySettings settings;
  settings.ranking = RankBy::kQuality;
  const Explanation explanation = choose(state, placing(spec), settings, 1).explanation;
  ASSERT_EQ(explanation.best.size(), Explanation::kMaxCandidates);
  EXPECT_GT(droppedFor(explanation, Dropped::kNeighbour), 0u);
  EXPECT_GT(droppedFor(explanation, Dropped::kQuality), 0u);
  EXPECT_LE(bytesOf(explanation), kMaxBytes);
}

}  // namespace tarcil::explanation_test
