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
  Status erase(const std::string& application, const Caller& caller = user("alice"),
               const std::string& of = "") {
    return only<Answer>(h.handle(ProfileDeleted{1, caller, application, of})).at(0).status;
  }
  Status promote(const std::string& application, const Caller& caller, const std::string& of = "") {
    return only<Answer>(h.handle(ProfilePromoted{1, caller, application, of})).at(0).status;
  }
  const StoredProfile* profile(const std::string& application, const std::string& user = "alice") {
    return h.logic().profile(application, user);
  }
  int llcOf(const std::string& application, const std::string& user = "alice") {
    const StoredProfile* found = profile(application, user);
    return found ? found->profile.caused[static_cast<size_t>(Resource::kLlc)] : -1;
  }
};

TEST_F(Profiles, AreFoundByTheirApplicationAfterARestartToo) {
  ASSERT_TRUE(store(pressing("sort", 40), user("alice"), "by hand").ok());
  const StoredProfile before = *profile("sort");
  EXPECT_EQ(before.user, "alice");
  EXPECT_EQ(before.note, "by hand");
  EXPECT_EQ(before.stored, h.now().wall);
  EXPECT_EQ(before.revision, 1u);
  h.restart();
  ASSERT_NE(profile("sort"), nullptr);
  EXPECT_EQ(*profile("sort"), before);
  EXPECT_EQ(profile("gzip"), nullptr);
}

TEST_F(Profiles, AreNotThereWhereTheMasterDiedBeforeTheyWereStored) {
  h.dieBeforeStoring(ProfileStored{1, user("alice"), pressing("sort", 40), ""});
  EXPECT_EQ(profile("sort"), nullptr);
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

// A profile says who may run beside a job: nobody says it for others' jobs but operators.
TEST_F(Profiles, OfUsersCountForTheirOwnJobs) {
  ASSERT_TRUE(store(pressing("sort", 40)).ok());
  ASSERT_TRUE(store(pressing("sort", 41)).ok());
  EXPECT_EQ(profile("sort")->revision, 2u);
  EXPECT_EQ(llcOf("sort", "bob"), -1);
  ASSERT_TRUE(store(pressing("sort", 50), user("bob")).ok()) << "the name is not taken";
  EXPECT_EQ(llcOf("sort"), 41);
  EXPECT_EQ(llcOf("sort", "bob"), 50);
  EXPECT_EQ(llcOf("sort", "carol"), -1);
  h.restart();
  EXPECT_EQ(llcOf("sort"), 41);
  EXPECT_EQ(llcOf("sort", "bob"), 50);
}

TEST_F(Profiles, OfOperatorsCountForAllWhoHaveNoneOfTheirOwn) {
  ASSERT_TRUE(store(pressing("sort", 43), theOperator()).ok());
  ASSERT_TRUE(store(pressing("sort", 40)).ok());
  EXPECT_EQ(llcOf("sort"), 40);
  EXPECT_EQ(llcOf("sort", "bob"), 43);
  ASSERT_TRUE(store(pressing("sort@9", 44), theOperator()).ok());
  EXPECT_EQ(llcOf("sort@9"), 44) << "that of the version comes before one's own of no version";
  EXPECT_EQ(erase("sort", user("bob")).error().code, ErrorCode::kDenied) << "it counts for all";
  ASSERT_TRUE(erase("sort").ok());
  EXPECT_EQ(llcOf("sort"), 43) << "hers is gone, and that for all is there";
  EXPECT_EQ(erase("sort").error().code, ErrorCode::kDenied);
  ASSERT_TRUE(erase("sort", theOperator()).ok());
  EXPECT_EQ(llcOf("sort"), -1);
}

TEST_F(Profiles, OfAUserCountForAllOnceAnOperatorPromotesThem) {
  ASSERT_TRUE(store(pressing("sort", 40), user("alice"), "by hand").ok());
  EXPECT_EQ(promote("sort", user("alice")).error().code, ErrorCode::kNotFound) << "she is no operator";
  EXPECT_EQ(promote("sort", user("bob"), "alice").error().code, ErrorCode::kDenied);
  ASSERT_TRUE(promote("sort", theOperator(), "alice").ok());
  EXPECT_EQ(llcOf("sort", "bob"), 40);
  EXPECT_EQ(profile("sort")->user, "alice");
  EXPECT_EQ(profile("sort")->note, "by hand");
  EXPECT_FALSE(profile("sort")->isOwn);
  h.restart();
  ASSERT_EQ(h.logic().profiles().size(), 1u) << "her own is that for all now";
  ASSERT_TRUE(store(pressing("sort", 60)).ok());
  EXPECT_EQ(llcOf("sort", "bob"), 40) << "what she stores afterwards is her own again";
}

TEST_F(Profiles, OfAUserAreDeletedByThemAndByOperators) {
  ASSERT_TRUE(store(pressing("sort", 40)).ok());
  EXPECT_EQ(erase("sort", user("bob")).error().code, ErrorCode::kNotFound) << "of others' nothing is known";
  EXPECT_EQ(erase("sort", user("bob"), "alice").error().code, ErrorCode::kDenied);
  ASSERT_TRUE(erase("sort").ok());
  EXPECT_EQ(erase("sort").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(store(pressing("sort", 40)).ok());
  EXPECT_EQ(erase("sort", theOperator()).error().code, ErrorCode::kNotFound) << "it is not said whose";
  ASSERT_TRUE(erase("sort", theOperator(), "alice").ok());
  h.restart();
  EXPECT_EQ(profile("sort"), nullptr);
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
