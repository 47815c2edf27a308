#include "monitor/late/late_grants.h"

#include <gtest/gtest.h>

namespace tarcil::late_grants_test {

using std::chrono::hours;
using std::chrono::minutes;
using Verdict = ShownGrants::Verdict;

constexpr WallTime kNow{hours(1'000)};

struct LateGrants : testing::Test {
  LateGrants() { keys.set(master.publicKey()); }
  ~LateGrants() noexcept override {}

  LateGrant granted(const std::string& user = "ann", WallTime until = kNow + hours(1)) const {
    return signedGrant({"a1", user, "nobody", until}, master);
  }
  Verdict judged(const std::string& user = "ann", const std::string& runAs = "nobody", WallTime now = kNow) {
    return shown.judge(user, runAs, now, keys);
  }

  const SigningKey master;
  GrantKeys keys;
  ShownGrants shown{"a1"};
};

TEST_F(LateGrants, HoldForTheirUserAndSystemUserUntilTheyEnd) {
  EXPECT_EQ(judged(), Verdict::kDenied);
  shown.add(granted(), kNow);
  EXPECT_EQ(judged(), Verdict::kGranted);
  EXPECT_EQ(judged("bob"), Verdict::kDenied);
  EXPECT_EQ(judged("ann", "root"), Verdict::kDenied);
  EXPECT_EQ(judged("ann", "nobody", kNow + minutes(59)), Verdict::kGranted);
  EXPECT_EQ(judged("ann", "nobody", kNow + hours(1)), Verdict::kDenied);
}

TEST_F(LateGrants, OfAnotherAgentHoldForNobody) {
  LateGrant others = signedGrant({"a2", "ann", "nobody", kNow + hours(1)}, master);
  shown.add(others, kNow);
  EXPECT_EQ(judged(), Verdict::kDenied);
  ShownGrants unknown("");
  unknown.add(others, kNow);
  EXPECT_EQ(unknown.judge("ann", "nobody", kNow, keys), Verdict::kGranted) << "no certificate says who it is";
}

TEST_F(LateGrants, ThatAreChangedHoldForNobody) {
  const auto isNotGranted = [this](auto change) {
    LateGrant grant = granted();
    change(grant);
    ShownGrants one("a1");
    one.add(grant, kNow);
    return one.judge(grant.user, grant.runAs, kNow, keys) != Verdict::kGranted;
  };
  EXPECT_FALSE(isNotGranted([](LateGrant&) {}));
  EXPECT_TRUE(isNotGranted([](LateGrant& grant) { grant.user = "bob"; }));
  EXPECT_TRUE(isNotGranted([](LateGrant& grant) { grant.runAs = "root"; }));
  EXPECT_TRUE(isNotGranted([](LateGrant& grant) { grant.until += hours(1); }));
  EXPECT_TRUE(isNotGranted([](LateGrant& grant) { grant.signature[0] ^= 1; }));
  EXPECT_TRUE(isNotGranted([](LateGrant& grant) { grant.signature.clear(); }));
}

TEST_F(LateGrants, OfAMasterThatIsNotKnownYetWait) {
  const SigningKey next;
  const LateGrant grant = signedGrant({"a1", "ann", "nobody", kNow + hours(1)}, next);
  shown.add(grant, kNow);
  EXPECT_EQ(judged(), Verdict::kNotYet);
  EXPECT_EQ(judged("ann", "nobody", kNow + hours(1)), Verdict::kDenied);
  keys.set(next.publicKey());
  EXPECT_EQ(judged(), Verdict::kGranted);
}

TEST_F(LateGrants, OfEarlierMastersHold) {
  shown.add(granted(), kNow);
  for (size_t i = 1; i < GrantKeys::kMaxKeys; ++i) keys.set(SigningKey().publicKey());
  EXPECT_EQ(judged(), Verdict::kGranted);
  // One that is not checked yet may be by a key that is forgotten.
  keys.set(SigningKey().publicKey());
  shown.add(granted("bob"), kNow);
  EXPECT_NE(judged("bob"), Verdict::kGranted);
  EXPECT_EQ(judged(), Verdict::kGranted) << "this one was seen to be signed";
}

TEST_F(LateGrants, ThatHoldAreNotLostForOnesThatDoNot) {
  shown.add(granted(), kNow);
  ASSERT_EQ(judged(), Verdict::kGranted);
  shown.add({"a1", "ann", "nobody", kNow + hours(9), "no signature"}, kNow);
  EXPECT_EQ(judged(), Verdict::kGranted);
  EXPECT_NE(judged("ann", "nobody", kNow + hours(1)), Verdict::kGranted);
}

TEST_F(LateGrants, AreNotAskedForByMastersOfEarlierVersions) {
  keys.set(std::nullopt);
  EXPECT_EQ(judged("bob"), Verdict::kGranted);
}

TEST_F(LateGrants, AreHeldOfSoManyUsers) {
  for (size_t i = 0; i < ShownGrants::kMaxUsers; ++i)
    shown.add({"a1", "user-" + std::to_string(i), "nobody", kNow + minutes(1), "no signature"}, kNow);
  shown.add(granted(), kNow);
  EXPECT_EQ(judged(), Verdict::kDenied) << "there is no room";
  shown.add(granted(), kNow + minutes(2));
  EXPECT_EQ(judged(), Verdict::kGranted) << "the others have ended";
}

}  // namespace tarcil::late_grants_test
