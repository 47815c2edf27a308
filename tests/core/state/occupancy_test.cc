#include "core/state/occupancy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/core/model/generators.h"
#include "tests/support/builders.h"

namespace tarcil {
namespace {

constexpr uint32_t kRus = 16;

TEST(Occupancy, LeavingGivesBackUnitsAndSlack) {
  ServerStatus status = aServer("a").status();
  const ServerStatus before = status;
  std::vector<Resident> residents;
  const Profile profile = causing({{Resource::kLlc, 60}});
  occupy(status, residents, {7, {1, 2}, profile.caused, profile.tolerated}, fullShare());
  EXPECT_EQ(status.free.size(), 2u);
  vacate(status, residents, 7, fullShare());
  EXPECT_TRUE(residents.empty());
  EXPECT_EQ(status.version, before.version + 2);
  status.version = before.version;
  EXPECT_EQ(status, before);
}

TEST(Occupancy, AnUnknownAllocationLeavesNoTrace) {
  ServerStatus status = aServer("a").status();
  const ServerStatus before = status;
  std::vector<Resident> residents;
  vacate(status, residents, 7, fullShare());
  EXPECT_EQ(status, before);
}

RC_GTEST_PROP(Occupancy, KeptStepByStepEqualsFromScratch, ()) {
  const Share share = *aShare();
  ServerStatus status;
  std::vector<Resident> residents;
  rebuild(status, residents, kRus, share);
  const int steps = *rc::gen::inRange(0, 30);
  for (AllocationId step = 1; step <= static_cast<AllocationId>(steps); ++step) {
    const auto units = *rc::gen::inRange<uint32_t>(1, 4);
    if (status.free.size() >= units && *rc::gen::arbitrary<bool>()) {
      const Profile profile = *aProfile();
      occupy(status, residents, {step, status.free.first(units), profile.caused, profile.tolerated}, share);
    } else {
      vacate(status, residents, *rc::gen::inRange<AllocationId>(1, step + 1), share);
    }
    ServerStatus scratch = status;
    rebuild(scratch, residents, kRus, share);
    RC_ASSERT(scratch == status);
  }
}

}  // namespace
}  // namespace tarcil
