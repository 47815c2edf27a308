// Work for a virtual cluster, and what is to become of it whatever breaks meanwhile.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/faults/virtual_cluster.h"
#include "tests/support/builders.h"

namespace tarcil {

inline constexpr Duration kPatience = std::chrono::minutes(10);

inline JobSpec sleeping(uint32_t tasks, const std::string& time, Pressures caused = {{Resource::kLlc, 30}}) {
  JobSpec spec = aJob(tasks, causing(caused));
  spec.name = "sleep";
  spec.command = {"sleep", time};
  return spec;
}

inline sim::VirtualClusterOptions withSeed(uint64_t seed) {
  sim::VirtualClusterOptions options;
  options.seed = seed;
  return options;
}

inline Duration upTo(Duration most, sim::VirtualCluster& cluster) {
  return Duration(static_cast<int64_t>(cluster.rng().below(static_cast<uint64_t>(most.count()))));
}

inline uint32_t oneOf(uint32_t count, sim::VirtualCluster& cluster) {
  return static_cast<uint32_t>(cluster.rng().below(count));
}

// One of several kinds of job: gangs, jobs with files, tasks from 10 ms to 2 s.
inline void submitJob(sim::VirtualCluster& cluster, uint32_t number) {
  const Resource resource = number % 2 == 0 ? Resource::kLlc : Resource::kMemoryBandwidth;
  JobSpec spec = sleeping(1 + number % 5,
                          number % 3 == 0   ? "2"
                          : number % 3 == 1 ? "0.3"
                                            : "0.01",
                          {{resource, 20 + 4 * static_cast<int>(number)}});
  if (number % 4 == 1) spec.schedule = Schedule::kGang;
  std::vector<InputFile> files;
  if (number % 4 == 2) files = {{"input", 0644, "data"}};
  cluster.submit(spec, number % 2, std::move(files));
}

// For a second more work than the cluster holds at once. After every third job, in the middle of what it sets
// off, `interfere` is called.
template <typename Interfere>
void submitWork(sim::VirtualCluster& cluster, Interfere interfere) {
  for (uint32_t number = 0; number < 15; ++number) {
    submitJob(cluster, number);
    cluster.run(upTo(std::chrono::milliseconds(30), cluster));
    if (number % 3 == 2) interfere(cluster);
    cluster.run(upTo(std::chrono::milliseconds(100), cluster));
  }
}

// Every job has ended well, every client was told, and no promise was broken.
inline void expectAllWell(sim::VirtualCluster& cluster) {
  EXPECT_TRUE(cluster.runUntilIdle(kPatience)) << "the cluster did not become idle";
  EXPECT_TRUE(cluster.allAnswered());
  EXPECT_TRUE(cluster.allDone());
  cluster.run(std::chrono::seconds(3));  // whoever is away comes back
  EXPECT_EQ(cluster.unitsHeld(), 0u);
  EXPECT_THAT(cluster.violations(), testing::IsEmpty());
}

}  // namespace tarcil
