#include "core/state/commit_check.h"

#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace tarcil::commit_check_test {

// A claim on one unit, judged when the server was at version 1.
Claim claimWithFloor(double floor) {
  Claim claim;
  claim.versionSeen = 1;
  claim.floor = floor;
  return claim;
}

// A job, and how its claims are judged.
struct Asked {
  JobSpec spec;
  Judging judging;
};

Asked job(const Profile& profile, const Extras& needed = {}) {
  Asked asked;
  asked.spec.profile = profile;
  asked.spec.extras = needed;
  return asked;
}

Verdict check(const Claim& claim, const Asked& asked, const ServerBuilder& server, uint64_t version) {
  ServerStatus status = server.status();
  status.version = version;
  return checkClaim(claim, asked.judging, asked.spec, server.facts(), status, fullShare());
}

constexpr Resource kLlc = Resource::kLlc;

TEST(CommitCheck, GrantsOnAnUnchangedServerWithoutJudgingAgain) {
  auto noisy = aServer("a").background({{kLlc, 99}});
  EXPECT_EQ(check(claimWithFloor(1.0), job(tolerating({{kLlc, 0}})), noisy, 1), Verdict::kGranted);
}

TEST(CommitCheck, GrantsOnAChangedServerWhileSatisfactionHolds) {
  auto asked = job(tolerating({{kLlc, 30}}));
  EXPECT_EQ(check(claimWithFloor(1.0), asked, aServer("a").holding(causing({{kLlc, 30}})), 2),
            Verdict::kGranted);
  EXPECT_EQ(check(claimWithFloor(1.0), asked, aServer("a").holding(causing({{kLlc, 31}})), 2),
            Verdict::kBelowFloor);
}

TEST(CommitCheck, ComparesTheFloorWithTheMarginOfTheJudging) {
  auto asked = job(tolerating({{kLlc, 30}}));
  asked.judging.margin = 1;
  EXPECT_EQ(check(claimWithFloor(1.0), asked, aServer("a").holding(causing({{kLlc, 30}})), 2),
            Verdict::kBelowFloor);
}

TEST(CommitCheck, RefusesWhereExtrasAreTakenWhetherTheServerChangedOrNot) {
  auto server = aServer("a").extra("gpus", 2).holding({}, 1, {{"gpus", 1}});
  for (uint64_t version : {1, 2}) {
    EXPECT_EQ(check(claimWithFloor(1.0), job({}, {{"gpus", 1}}), server, version), Verdict::kGranted);
    EXPECT_EQ(check(claimWithFloor(1.0), job({}, {{"gpus", 2}}), server, version), Verdict::kNoExtras);
    EXPECT_EQ(check(claimWithFloor(1.0), job({}, {{"tapes", 1}}), server, version), Verdict::kNoExtras);
  }
}

TEST(CommitCheck, RefusesWhereMemoryOrDiskIsTakenWhetherTheServerChangedOrNot) {
  const auto server = aServer("a").rus(4).memory(400).disk(40).holding({}, 1, {}, {250, 25});
  const auto asking = [](uint64_t memory, uint64_t disk) {
    Asked asked = job({});
    asked.spec.limits.memoryBytes = memory;
    asked.spec.limits.diskBytes = disk;
    return asked;
  };
  for (uint64_t version : {1, 2}) {
    EXPECT_EQ(check(claimWithFloor(1.0), asking(150, 15), server, version), Verdict::kGranted);
    EXPECT_EQ(check(claimWithFloor(1.0), asking(0, 0), server, version), Verdict::kGranted)
        << "a unit's share";
    EXPECT_EQ(check(claimWithFloor(1.0), asking(151, 15), server, version), Verdict::kNoMemory);
    EXPECT_EQ(check(claimWithFloor(1.0), asking(150, 16), server, version), Verdict::kNoDisk);
  }
  const auto full = aServer("a").rus(4).memory(400).holding({}, 1, {}, {301, 0});
  EXPECT_EQ(check(claimWithFloor(1.0), asking(0, 0), full, 1), Verdict::kNoMemory)
      << "less than a unit's share";
  EXPECT_EQ(check(claimWithFloor(1.0), asking(99, 0), full, 1), Verdict::kGranted);
}

TEST(CommitCheck, RefusesWhatAResidentCouldNotBear) {
  auto asked = job(causingAndTolerating({{kLlc, 40}}, {}));
  auto server = aServer("a").holding(tolerating({{kLlc, 39}}));
  EXPECT_EQ(check(claimWithFloor(0.0), asked, server, 2), Verdict::kBreaksNeighbour);
  asked.judging.protectNeighbours = false;
  EXPECT_EQ(check(claimWithFloor(0.0), asked, server, 2), Verdict::kGranted);
}

TEST(CommitCheck, LetsPassWhatIsBelowTheNoiseFloor) {
  auto asked = job(causingAndTolerating({{kLlc, 2}}, {}));
  EXPECT_EQ(check(claimWithFloor(0.0), asked, aServer("a").holding(tolerating({{kLlc, 0}})), 2),
            Verdict::kGranted);
}

TEST(CommitCheck, RefusesServersThatTakeNothingEvenIfUnchanged) {
  auto asked = job({});
  EXPECT_EQ(check(claimWithFloor(0.0), asked, aServer("a").down(), 1), Verdict::kServerDown);
  EXPECT_EQ(check(claimWithFloor(0.0), asked, aServer("a").cordoned(), 1), Verdict::kCordoned);
  EXPECT_EQ(check(claimWithFloor(0.0), asked, aServer("a").holding({}, 4), 1), Verdict::kNotFree);
}

TEST(CommitCheck, SeesPressureAsItArrivesOnThePlatform) {
  Share half = fullShare();
  half[static_cast<size_t>(kLlc)] = kShareUnit / 2;
  auto server = aServer("a").holding(causingAndTolerating({{kLlc, 80}}, {}));
  ServerStatus status = server.status();
  status.version = 2;
  // Demand 50 becomes 25, so 74 is tolerated, and 40 arrives of the 80.
  auto asked = job(tolerating({{kLlc, 49}}));
  EXPECT_EQ(checkClaim(claimWithFloor(1.0), asked.judging, asked.spec, server.facts(), status, half),
            Verdict::kGranted);
  EXPECT_EQ(checkClaim(claimWithFloor(1.0), asked.judging, asked.spec, server.facts(), status, fullShare()),
            Verdict::kBelowFloor);
}

}  // namespace tarcil::commit_check_test
