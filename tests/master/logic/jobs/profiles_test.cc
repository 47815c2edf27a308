// Profiles that the master keeps for applications.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::jobs_profiles_test {

using namespace master;
using testing::HasSubstr;

struct Profiles : testing::Test {
  MasterHarness h;

  static Profile pressing(const std::string& application, uint8_t llc) {
    Profile profile = causing(Resource::kLlc, llc);
    profile.application = application;
    return profile;
  }
  Status store(const Profile& profile, const Caller& caller = user("alice"), const std::string& note = "") {
    return only<Answer>(h.handle(ProfileStored{1, caller, profile, note})).at(0).status;
  }
  Status erase(const std::string& application, const Caller& caller = user("alice")) {
    return only<Answer>(h.handle(ProfileDeleted{1, caller, application})).at(0).status;
  }
  int llcOf(const std::string& application) {
    const StoredProfile* found = h.logic().profile(application);
    return found ? found->profile.caused[static_cast<size_t>(Resource::kLlc)] : -1;
  }
};

TEST_F(Profiles, AreFoundByTheirApplicationAfterARestartToo) {
  ASSERT_TRUE(store(pressing("sort", 40), user("alice"), "by hand").ok());
  const StoredProfile before = *h.logic().profile("sort");
  EXPECT_EQ(before.user, "alice");
  EXPECT_EQ(before.note, "by hand");
  EXPECT_EQ(before.stored, h.now().wall);
  EXPECT_EQ(before.revision, 1u);
  h.restart();
  ASSERT_NE(h.logic().profile("sort"), nullptr);
  EXPECT_EQ(*h.logic().profile("sort"), before);
  EXPECT_EQ(h.logic().profile("gzip"), nullptr);
}

TEST_F(Profiles, AreNotThereWhereTheMasterDiedBeforeTheyWereStored) {
  h.dieBeforeStoring(ProfileStored{1, user("alice"), pressing("sort", 40), ""});
  EXPECT_EQ(h.logic().profile("sort"), nullptr);
}

TEST_F(Profiles, OfAVersionComeBeforeThoseOfNone) {
  ASSERT_TRUE(store(pressing("sort", 40)).ok());
  ASSERT_TRUE(store(pressing("sort@9.1", 50)).ok());
  EXPECT_EQ(llcOf("sort"), 40);
  EXPECT_EQ(llcOf("sort@9.1"), 50);
  EXPECT_EQ(llcOf("sort@8"), 40) << "none of that version";
  ASSERT_TRUE(erase("sort").ok());
  EXPECT_EQ(llcOf("sort"), -1) << "a version stands for itself alone";
}

TEST_F(Profiles, AreReplacedByWhoStoredThemAndByOperators) {
  ASSERT_TRUE(store(pressing("sort", 40)).ok());
  ASSERT_TRUE(store(pressing("sort", 41)).ok());
  const Status others = store(pressing("sort", 42), user("bob"));
  EXPECT_EQ(others.error().code, ErrorCode::kDenied);
  EXPECT_THAT(others.error().message, HasSubstr("stored by user alice"));
  EXPECT_EQ(llcOf("sort"), 41);
  ASSERT_TRUE(store(pressing("sort", 43), theOperator()).ok());
  EXPECT_EQ(llcOf("sort"), 43);
  EXPECT_EQ(h.logic().profile("sort")->revision, 3u);
  EXPECT_EQ(h.logic().profile("sort")->user, "alice") << "it stays hers";
}

TEST_F(Profiles, AreDeletedByWhoStoredThemAndByOperators) {
  ASSERT_TRUE(store(pressing("sort", 40)).ok());
  EXPECT_EQ(erase("sort", user("bob")).error().code, ErrorCode::kDenied);
  ASSERT_TRUE(erase("sort").ok());
  EXPECT_EQ(erase("sort").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(store(pressing("sort", 40)).ok());
  ASSERT_TRUE(erase("sort", theOperator()).ok());
  h.restart();
  EXPECT_EQ(h.logic().profile("sort"), nullptr);
}

TEST_F(Profiles, WithNamesOrNumbersThatAreNoneAreRefused) {
  for (const char* name : {"", "two words", "../x", "@1", "sort@", "sort@a/b", "sort@1@2"}) {
    EXPECT_EQ(store(pressing(name, 40)).error().code, ErrorCode::kInvalid) << name;
  }
  Profile fast = pressing("sort", 40);
  fast.platforms["p"] = 1.5;
  EXPECT_THAT(store(fast).error().message, HasSubstr("above 0 and at most 1"));
  EXPECT_THAT(store(pressing("sort", 40), user("alice"), std::string(300, 'x')).error().message,
              HasSubstr("at most 256"));
  EXPECT_TRUE(h.logic().profiles().empty());
}

TEST_F(Profiles, AreBoundedInNumber) {
  for (size_t i = 0; i < kMaxStoredProfiles; ++i) {
    ASSERT_TRUE(store(pressing("a" + std::to_string(i), 1), theOperator()).ok());
  }
  EXPECT_EQ(store(pressing("one-more", 1), theOperator()).error().code, ErrorCode::kExhausted);
  EXPECT_TRUE(store(pressing("a0", 2), theOperator()).ok()) << "one that is there is replaced";
}

TEST_F(Profiles, OfOneUserLeaveNamesToOthers) {
  for (size_t i = 0; i < kMaxStoredProfilesOfUser; ++i) {
    ASSERT_TRUE(store(pressing("a" + std::to_string(i), 1)).ok());
  }
  const Status oneMore = store(pressing("one-more", 1));
  ASSERT_FALSE(oneMore.ok());
  EXPECT_EQ(oneMore.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(oneMore.error().message, HasSubstr("user alice has stored 1000 profiles"));
  EXPECT_TRUE(store(pressing("a0", 2)).ok()) << "one that is there is replaced";
  EXPECT_TRUE(store(pressing("one-more", 1), user("bob")).ok());
  EXPECT_TRUE(store(pressing("another", 1), theOperator()).ok());
  ASSERT_TRUE(erase("a1").ok());
  EXPECT_TRUE(store(pressing("a2000", 1)).ok());
}

TEST_F(Profiles, AreOfABoundedNumberOfPlatforms) {
  Profile profile = pressing("sort", 1);
  for (size_t i = 0; i < kMaxProfilePlatforms; ++i) profile.platforms["p" + std::to_string(i)] = 0.5;
  EXPECT_TRUE(store(profile).ok());
  profile.platforms["one-more"] = 0.5;
  EXPECT_EQ(store(profile).error().message, "platforms: there are 101; write at most 100");
}

}  // namespace tarcil::jobs_profiles_test
