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

Judging judging(const Profile& profile) {
  Judging judging;
  judging.caused = profile.caused;
  judging.tolerated = profile.tolerated;
  return judging;
}

Verdict check(const Claim& claim, const Judging& judging, const ServerBuilder& server, uint64_t version,
              const Extras& needed = {}) {
  ServerStatus status = server.status();
  status.version = version;
  return checkClaim(claim, judging, needed, server.facts(), status, fullShare());
}

constexpr Resource kLlc = Resource::kLlc;

TEST(CommitCheck, GrantsOnAnUnchangedServerWithoutJudgingAgain) {
  auto noisy = aServer("a").background({{kLlc, 99}});
  EXPECT_EQ(check(claimWithFloor(1.0), judging(tolerating({{kLlc, 0}})), noisy, 1), Verdict::kGranted);
}

TEST(CommitCheck, GrantsOnAChangedServerWhileSatisfactionHolds) {
  auto job = judging(tolerating({{kLlc, 30}}));
  EXPECT_EQ(check(claimWithFloor(1.0), job, aServer("a").holding(causing({{kLlc, 30}})), 2),
            Verdict::kGranted);
  EXPECT_EQ(check(claimWithFloor(1.0), job, aServer("a").holding(causing({{kLlc, 31}})), 2),
            Verdict::kBelowFloor);
}

TEST(CommitCheck, ComparesTheFloorWithTheMarginOfTheJudging) {
  auto job = judging(tolerating({{kLlc, 30}}));
  job.margin = 1;
  EXPECT_EQ(check(claimWithFloor(1.0), job, aServer("a").holding(causing({{kLlc, 30}})), 2),
            Verdict::kBelowFloor);
}

TEST(CommitCheck, RefusesWhereExtrasAreTakenWhetherTheServerChangedOrNot) {
  auto server = aServer("a").extra("gpus", 2).holding({}, 1, {{"gpus", 1}});
  for (uint64_t version : {1, 2}) {
    EXPECT_EQ(check(claimWithFloor(1.0), {}, server, version, {{"gpus", 1}}), Verdict::kGranted);
    EXPECT_EQ(check(claimWithFloor(1.0), {}, server, version, {{"gpus", 2}}), Verdict::kNoExtras);
    EXPECT_EQ(check(claimWithFloor(1.0), {}, server, version, {{"tapes", 1}}), Verdict::kNoExtras);
  }
}

TEST(CommitCheck, RefusesWhatAResidentCouldNotBear) {
  auto job = judging(causingAndTolerating({{kLlc, 40}}, {}));
  auto server = aServer("a").holding(tolerating({{kLlc, 39}}));
  EXPECT_EQ(check(claimWithFloor(0.0), job, server, 2), Verdict::kBreaksNeighbour);
  job.protectNeighbours = false;
  EXPECT_EQ(check(claimWithFloor(0.0), job, server, 2), Verdict::kGranted);
}

TEST(CommitCheck, LetsPassWhatIsBelowTheNoiseFloor) {
  auto job = judging(causingAndTolerating({{kLlc, 2}}, {}));
  EXPECT_EQ(check(claimWithFloor(0.0), job, aServer("a").holding(tolerating({{kLlc, 0}})), 2),
            Verdict::kGranted);
}

TEST(CommitCheck, RefusesServersThatTakeNothingEvenIfUnchanged) {
  auto job = judging({});
  EXPECT_EQ(check(claimWithFloor(0.0), job, aServer("a").down(), 1), Verdict::kServerDown);
  EXPECT_EQ(check(claimWithFloor(0.0), job, aServer("a").cordoned(), 1), Verdict::kCordoned);
  EXPECT_EQ(check(claimWithFloor(0.0), job, aServer("a").holding({}, 4), 1), Verdict::kNotFree);
}

TEST(CommitCheck, SeesPressureAsItArrivesOnThePlatform) {
  Share half = fullShare();
  half[static_cast<size_t>(kLlc)] = kShareUnit / 2;
  auto server = aServer("a").holding(causingAndTolerating({{kLlc, 80}}, {}));
  ServerStatus status = server.status();
  status.version = 2;
  // Demand 50 becomes 25, so 74 is tolerated, and 40 arrives of the 80.
  auto job = judging(tolerating({{kLlc, 49}}));
  EXPECT_EQ(checkClaim(claimWithFloor(1.0), job, {}, server.facts(), status, half), Verdict::kGranted);
  EXPECT_EQ(checkClaim(claimWithFloor(1.0), job, {}, server.facts(), status, fullShare()),
            Verdict::kBelowFloor);
}

}  // namespace tarcil::commit_check_test
