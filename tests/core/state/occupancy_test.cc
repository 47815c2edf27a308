#include "core/state/occupancy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/core/model/generators.h"
#include "tests/support/builders.h"

namespace tarcil::occupancy_test {

// 16 units, 4 gpus and 2 licences.
ServerFacts facts() {
  return aServer("a").rus(16).extra("gpus", 4).extra("licences", 2).facts();
}

TEST(Occupancy, LeavingGivesBackUnitsSlackAndExtras) {
  const ServerBuilder server = aServer("a").extra("gpus", 4);
  ServerStatus status = server.status();
  const ServerStatus before = status;
  std::vector<Resident> residents;
  const Profile profile = causing({{Resource::kLlc, 60}});
  occupy(status, residents, {7, {1, 2}, profile.caused, profile.tolerated, {{"gpus", {0, 3}}}},
         server.facts(), fullShare());
  EXPECT_EQ(status.free.size(), 2u);
  EXPECT_EQ(lowestExtras(status.freeExtras, {{"gpus", 4}}), (ExtraNumbers{{"gpus", {1, 2}}}));
  vacate(status, residents, 7, server.facts(), fullShare());
  EXPECT_TRUE(residents.empty());
  EXPECT_EQ(status.version, before.version + 2);
  status.version = before.version;
  EXPECT_EQ(status, before);
}

TEST(Occupancy, ClaimsWhatWasAskedOrTheShareOfTheUnits) {
  const ServerBuilder server = aServer("a").rus(4).memory(400).disk(40);
  ServerStatus status = server.status();
  std::vector<Resident> residents;
  const auto claims = [&](AllocationId allocation, std::vector<RuIndex> rus, const ByteRequest& request) {
    occupy(status, residents, {.allocation = allocation, .rus = std::move(rus), .request = request},
           server.facts(), fullShare());
    return status.allocated;
  };
  EXPECT_EQ(claims(1, {0}, {}), (ByteResources{100, 10}));
  EXPECT_EQ(claims(2, {1, 2}, {{250, 0}, 2}), (ByteResources{350, 30}));
  EXPECT_EQ(claims(3, {3}, {{0, 1}, 1}), (ByteResources{450, 31}))
      << "whoever calls it sees to what there is";
  vacate(status, residents, 2, server.facts(), fullShare());
  EXPECT_EQ(status.allocated, (ByteResources{200, 11}));
}

TEST(Occupancy, ATaskThatGotMoreUnitsClaimsTheirShareToo) {
  const ServerBuilder server = aServer("a").rus(4).memory(400);
  ServerStatus status = server.status();
  std::vector<Resident> residents{{.allocation = 1, .rus = {0, 1, 2}, .request = {{150, 0}, 2}}};
  rebuild(status, residents, server.facts(), fullShare());
  EXPECT_EQ(status.allocated.memory, 250u);
  EXPECT_EQ(status.allocated.disk, 0u) << "the server does not count it";
}

TEST(Occupancy, AnUnknownAllocationLeavesNoTrace) {
  ServerStatus status = aServer("a").status();
  const ServerStatus before = status;
  std::vector<Resident> residents;
  vacate(status, residents, 7, aServer("a").facts(), fullShare());
  EXPECT_EQ(status, before);
}

TEST(Occupancy, WhatTheServerNoLongerHasDoesNotBecomeFree) {
  const ServerBuilder before = aServer("a").rus(4).extra("gpus", 4);
  ServerStatus status = before.status();
  std::vector<Resident> residents;
  occupy(status, residents, {7, {0, 3}, {}, {}, {{"gpus", {1, 3}}}}, before.facts(), fullShare());
  const ServerFacts now = aServer("a").rus(2).extra("gpus", 2).facts();
  rebuild(status, residents, now, fullShare());
  EXPECT_EQ(status.free.first(4), std::vector<RuIndex>{1});
  EXPECT_EQ(lowestExtras(status.freeExtras, {{"gpus", 4}}), (ExtraNumbers{{"gpus", {0}}}));
  vacate(status, residents, 7, now, fullShare());
  EXPECT_EQ(status.free, RuSet::all(2));
  EXPECT_EQ(status.freeExtras, allExtras({{"gpus", 2}}));
}

RC_GTEST_PROP(Occupancy, KeptStepByStepEqualsFromScratch, ()) {
  const Share share = *aShare();
  ServerStatus status;
  std::vector<Resident> residents;
  rebuild(status, residents, facts(), share);
  const int steps = *rc::gen::inRange(0, 30);
  for (AllocationId step = 1; step <= static_cast<AllocationId>(steps); ++step) {
    const auto units = *rc::gen::inRange<uint32_t>(1, 4);
    if (status.free.size() >= units && *rc::gen::arbitrary<bool>()) {
      const Profile profile = *aProfile();
      const ExtraNumbers extras = lowestExtras(status.freeExtras, {{"gpus", *rc::gen::inRange(1u, 3u)}});
      occupy(status, residents,
             {step, status.free.first(units), profile.caused, profile.tolerated, extras,
              ByteRequest{{*rc::gen::inRange<uint64_t>(0, 3), *rc::gen::inRange<uint64_t>(0, 3)}, units}},
             facts(), share);
    } else {
      vacate(status, residents, *rc::gen::inRange<AllocationId>(1, step + 1), facts(), share);
    }
    ServerStatus scratch = status;
    rebuild(scratch, residents, facts(), share);
    RC_ASSERT(scratch == status);
  }
}

}  // namespace tarcil::occupancy_test
