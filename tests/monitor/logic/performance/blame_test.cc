#include "monitor/logic/performance/blame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tarcil::blame_test {

using testing::DoubleNear;
using testing::HasSubstr;
using Kind = Cause::Kind;

constexpr auto kCore = static_cast<size_t>(Resource::kCore);
constexpr auto kLlc = static_cast<size_t>(Resource::kLlc);
constexpr auto kBandwidth = static_cast<size_t>(Resource::kMemoryBandwidth);
constexpr auto kDisk = static_cast<size_t>(Resource::kDiskBandwidth);
constexpr auto kNetwork = static_cast<size_t>(Resource::kNetworkBandwidth);

// Task 1 suffers; it bears everything and holds one core, of which it uses half.
Scene calm() {
  Scene scene;
  scene.suffering.allocation = 1;
  scene.suffering.tolerated.fill(kMaxPressure);
  scene.feels.coresHeld = 1;
  scene.feels.coresUsed = 0.5;
  return scene;
}

TaskSigns neighbour(AllocationId allocation, size_t resource, double measured) {
  TaskSigns signs;
  signs.allocation = allocation;
  signs.job.bytes[0] = static_cast<uint8_t>(allocation);
  signs.measured[resource] = measured;
  return signs;
}

struct Expected {
  std::string name;
  std::function<void(Scene&)> arrange;
  Kind kind;
  std::optional<Resource> resource;
  AllocationId neighbour;
};

std::vector<Expected> table() {
  return {
      {"nothing to see", [](Scene&) {}, Kind::kUnknown, std::nullopt, 0},
      {"a neighbour beyond what is borne",
       [](Scene& scene) {
         scene.suffering.tolerated[kBandwidth] = 20;
         scene.others = {neighbour(2, kBandwidth, 10), neighbour(3, kBandwidth, 60)};
       },
       Kind::kNeighbour, Resource::kMemoryBandwidth, 3},
      {"a neighbour by its profile where nothing is measured",
       [](Scene& scene) {
         scene.suffering.tolerated[kLlc] = 30;
         scene.others.resize(1);
         scene.others[0].allocation = 7;
         scene.others[0].caused[kLlc] = 80;
       },
       Kind::kNeighbour, Resource::kLlc, 7},
      {"what is measured counts more than what the profile says",
       [](Scene& scene) {
         scene.suffering.tolerated[kBandwidth] = 20;
         scene.others = {neighbour(2, kBandwidth, 70), neighbour(3, kBandwidth, 1)};
         scene.others[1].caused[kBandwidth] = 90;
       },
       Kind::kNeighbour, Resource::kMemoryBandwidth, 2},
      {"what is borne is nobody's fault",
       [](Scene& scene) {
         scene.suffering.tolerated[kBandwidth] = 60;
         scene.others = {neighbour(2, kBandwidth, 62)};
       },
       Kind::kUnknown, std::nullopt, 0},
      {"the background",
       [](Scene& scene) {
         scene.suffering.tolerated[kDisk] = 10;
         scene.others = {neighbour(2, kDisk, 5)};
         scene.server.background[kDisk] = 70;
       },
       Kind::kBackground, Resource::kDiskBandwidth, 0},
      {"a neighbour that takes turns on its core",
       [](Scene& scene) {
         scene.feels.waitedForCore = 0.5;
         scene.others = {neighbour(2, kCore, 25)};
         scene.server.background[kCore] = 2;
       },
       Kind::kNeighbour, Resource::kCore, 2},
      {"not a neighbour on other cores",
       [](Scene& scene) {
         scene.feels.waitedForCore = 0.5;
         scene.others = {neighbour(2, kCore, 90), neighbour(3, kCore, 5)};
         scene.others[0].sharesCores = false;
       },
       Kind::kNeighbour, Resource::kCore, 3},
      {"its own cores are full",
       [](Scene& scene) {
         scene.feels.coresUsed = 0.98;
         scene.feels.waitedForCore = 0.7;
         scene.others = {neighbour(2, kCore, 40)};
       },
       Kind::kCores, Resource::kCore, 0},
      {"a quota holds it back", [](Scene& scene) { scene.feels.throttled = 0.3; }, Kind::kCores,
       Resource::kCore, 0},
      {"a task that uses its core and waits for nothing is not held back",
       [](Scene& scene) {
         scene.feels.coresUsed = 1;
         scene.feels.waitedForCore = 0.01;
       },
       Kind::kUnknown, std::nullopt, 0},
      {"its memory limit",
       [](Scene& scene) {
         scene.feels.memoryShare = 0.99;
         scene.feels.limitHits = 40;
         scene.feels.waitedForMemory = 0.6;
       },
       Kind::kMemoryLimit, Resource::kMemoryCapacity, 0},
      {"memory that is nearly full and never was too small is no limit",
       [](Scene& scene) { scene.feels.memoryShare = 0.99; }, Kind::kUnknown, std::nullopt, 0},
      {"a process killed for memory",
       [](Scene& scene) {
         scene.feels.oomKills = 1;
         scene.server.stolen = 0.3;
       },
       Kind::kMemoryLimit, Resource::kMemoryCapacity, 0},
      {"a process killed for memory where the whole machine waits for cores",
       [](Scene& scene) {
         scene.feels.oomKills = 1;
         scene.feels.waitedForCore = 1;
         scene.server.background[kCore] = kMaxPressure;
       },
       Kind::kMemoryLimit, Resource::kMemoryCapacity, 0},
      {"a quota where the whole machine waits for cores",
       [](Scene& scene) {
         scene.feels.throttled = 0.3;
         scene.feels.waitedForCore = 1;
         scene.server.background[kCore] = kMaxPressure;
       },
       Kind::kCores, Resource::kCore, 0},
      {"a neighbour that takes more of its core than a quota does",
       [](Scene& scene) {
         scene.feels.throttled = 0.1;
         scene.feels.waitedForCore = 0.6;
         scene.others = {neighbour(2, kCore, 50)};
       },
       Kind::kNeighbour, Resource::kCore, 2},
      {"most of the waiting is its quota's, not a neighbour's",
       [](Scene& scene) {
         scene.feels.throttled = 0.5;
         scene.feels.waitedForCore = 0.6;
         scene.others = {neighbour(2, kCore, 50)};
       },
       Kind::kCores, Resource::kCore, 0},
      {"the hypervisor", [](Scene& scene) { scene.server.stolen = 0.2; }, Kind::kHypervisor, Resource::kCore,
       0},
      {"a disk that nobody else uses",
       [](Scene& scene) {
         scene.feels.waitedForDisk = 0.4;
         scene.suffering.measured[kDisk] = 90;
       },
       Kind::kDisk, Resource::kDiskBandwidth, 0},
      {"a disk that nobody is seen to use", [](Scene& scene) { scene.feels.waitedForDisk = 0.4; },
       Kind::kDisk, Resource::kDiskBandwidth, 0},
      {"a neighbour on the disk",
       [](Scene& scene) {
         scene.feels.waitedForDisk = 0.4;
         scene.suffering.measured[kDisk] = 5;
         scene.others = {neighbour(2, kDisk, 80)};
       },
       Kind::kNeighbour, Resource::kDiskBandwidth, 2},
      {"its own traffic fills the network",
       [](Scene& scene) {
         scene.suffering.measured[kNetwork] = 90;
         scene.others = {neighbour(2, kNetwork, 5)};
       },
       Kind::kNetwork, Resource::kNetworkBandwidth, 0},
  };
}

TEST(Blame, FindsTheLikeliestCause) {
  for (const Expected& expected : table()) {
    Scene scene = calm();
    expected.arrange(scene);
    const auto causes = causesOf(scene);
    ASSERT_FALSE(causes.empty()) << expected.name;
    EXPECT_EQ(causes[0].kind, expected.kind) << expected.name << ": " << causes[0].evidence;
    EXPECT_EQ(causes[0].resource, expected.resource) << expected.name;
    EXPECT_EQ(causes[0].neighbour, expected.neighbour) << expected.name;
    EXPECT_FALSE(causes[0].evidence.empty()) << expected.name;
    double sum = 0;
    for (const Cause& cause : causes) sum += cause.weight;
    EXPECT_THAT(sum, DoubleNear(1, 1e-9)) << expected.name;
  }
}

TEST(Blame, RanksSeveralByWhatSpeaksForThem) {
  Scene scene = calm();
  scene.suffering.tolerated[kBandwidth] = 19;
  scene.others = {neighbour(2, kBandwidth, 30), neighbour(3, kBandwidth, 60)};
  scene.server.stolen = 0.1;
  const auto causes = causesOf(scene);
  ASSERT_EQ(causes.size(), 3u);
  EXPECT_EQ(causes[0].neighbour, 3u);
  EXPECT_EQ(causes[1].neighbour, 2u);
  EXPECT_EQ(causes[2].kind, Kind::kHypervisor);
  EXPECT_NEAR(causes[0].weight / causes[1].weight, 2, 1e-9);
}

TEST(Blame, ManySmallTasksOfOneJobAreOneOffender) {
  Scene scene = calm();
  scene.suffering.tolerated[kBandwidth] = 9;
  scene.others = {neighbour(2, kBandwidth, 25)};
  for (AllocationId i = 3; i < 13; ++i) {
    scene.others.push_back(neighbour(i, kBandwidth, i == 7 ? 6 : 4));
    scene.others.back().job.bytes[0] = 99;
  }
  const auto causes = causesOf(scene);
  ASSERT_EQ(causes.size(), 2u) << "each of them alone is below what counts";
  EXPECT_EQ(causes[0].neighbour, 7u) << "the largest of them";
  EXPECT_THAT(causes[0].evidence,
              HasSubstr("with 9 more tasks of its job presses on memory_bandwidth with 42"));
  EXPECT_EQ(causes[1].neighbour, 2u);
  EXPECT_NEAR(causes[0].weight, 42.0 / 67, 1e-9);
}

TEST(Blame, TasksOnOtherCoresDoNotCountWithThoseOfTheirJobThatTakeTurns) {
  Scene scene = calm();
  scene.feels.waitedForCore = 0.5;
  scene.others = {neighbour(2, kCore, 90), neighbour(3, kCore, 10), neighbour(4, kCore, 20)};
  scene.others[0].sharesCores = false;
  scene.others[1].job = scene.others[0].job;
  const auto causes = causesOf(scene);
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].neighbour, 4u);
  EXPECT_EQ(causes[1].neighbour, 3u);
}

TEST(Blame, NamesFiveCausesAtMost) {
  Scene scene = calm();
  scene.suffering.tolerated[kLlc] = 0;
  for (AllocationId i = 2; i < 12; ++i) scene.others.push_back(neighbour(i, kLlc, 50));
  EXPECT_EQ(causesOf(scene).size(), 5u);
}

TEST(Blame, EvidenceHasItsNumbers) {
  Scene scene = calm();
  scene.suffering.tolerated[kBandwidth] = 20;
  scene.others = {neighbour(3, kBandwidth, 60)};
  EXPECT_EQ(
      causesOf(scene)[0].evidence,
      "presses on memory_bandwidth with 60 of 99 (measured), all others of the server with 60; the task "
      "bears 20");
  scene = calm();
  scene.feels.waitedForCore = 0.5;
  scene.others = {neighbour(2, kCore, 25)};
  EXPECT_THAT(causesOf(scene)[0].evidence, HasSubstr("the task waited for it 50 % of the time"));
  scene = calm();
  scene.feels.coresUsed = 1.96;
  scene.feels.coresHeld = 2;
  scene.feels.waitedForCore = 0.7;
  EXPECT_EQ(causesOf(scene)[0].evidence, "it uses 2.0 of its 2.0 cores and waited for one 70 % of the time");
}

}  // namespace tarcil::blame_test
