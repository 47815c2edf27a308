#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::settings_test {

using namespace master;
using testing::HasSubstr;

TEST(NewStore, GetsAClusterNameAndSettingsThatStay) {
  MasterHarness master;
  const std::string cluster = master.logic().cluster().cluster;
  EXPECT_NE(cluster, "");
  const QualitySettings settings = master.logic().settings();
  master.restart();
  EXPECT_EQ(master.logic().cluster().cluster, cluster);
  EXPECT_EQ(master.logic().settings(), settings);
  EXPECT_EQ(master.store().load()->settings, settings);
}

TEST(Settings, AreCountedStoredAndPublished) {
  MasterHarness master;
  QualitySettings wanted = master.logic().settings();
  const uint64_t version = wanted.version;
  wanted.target = 0.8;
  wanted.version = 99;
  const auto actions = master.handle(SettingsSet{1, wanted});
  EXPECT_TRUE(only<Answer>(actions).at(0).status.ok());
  EXPECT_EQ(only<PublishSettings>(actions).at(0).settings.version, version + 1);
  master.restart();
  EXPECT_EQ(master.logic().settings().target, 0.8);
  EXPECT_EQ(master.logic().settings().version, version + 1);
}

TEST(Settings, ThatAreWrongAreRefusedWithEveryProblem) {
  MasterHarness master;
  QualitySettings wrong;
  wrong.target = 7;
  wrong.cap = 0;
  const auto actions = master.handle(SettingsSet{1, wrong});
  EXPECT_THAT(only<PublishSettings>(actions), testing::IsEmpty());
  const Error error = only<Answer>(actions).at(0).status.error();
  EXPECT_EQ(error.code, ErrorCode::kInvalid);
  EXPECT_THAT(error.message, HasSubstr("target"));
  EXPECT_THAT(error.message, HasSubstr("cap"));
  EXPECT_EQ(master.logic().settings().target, QualitySettings{}.target);
}

TEST(Settings, OfAFloorAboveTheCapAreRefused) {
  MasterHarness master;
  QualitySettings wanted;
  wanted.floor = 4;
  wanted.cap = 4;
  EXPECT_TRUE(only<Answer>(master.handle(SettingsSet{1, wanted})).at(0).status.ok());
  wanted.floor = 100;
  const auto refused = only<Answer>(master.handle(SettingsSet{2, wanted})).at(0).status;
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr("floor: 100 is more than the cap of 4; write"));
  EXPECT_EQ(master.logic().settings().floor, 4u);
}

TEST(Platforms, ChangeWhatTheResidentsOfTheirServersBear) {
  MasterHarness master;
  master.attachMonitor("m", {serverFacts("a", 4, "p"), serverFacts("b", 4, "q")});
  JobSpec tender = spec();
  tender.profile = causing(Resource::kLlc, 40);
  tender.profile.tolerated[static_cast<size_t>(Resource::kLlc)] = 20;
  Commit commit = newJob(1, tender);
  commit.claims = {claim(0, 0)};
  master.place(master.attachAgent("x"), commit);
  const ServerStatus before = master.status("a");

  Share half = fullShare();
  half.fill(kShareUnit / 2);
  const auto actions = master.handle(PlatformSet{1, "p", half});
  EXPECT_EQ(only<PublishPlatform>(actions).at(0).share, half);
  const auto published = only<PublishServer>(actions);
  ASSERT_EQ(published.size(), 1u) << "only servers of the platform change";
  EXPECT_NE(published[0].update.status.bound, before.bound);
  EXPECT_GT(published[0].update.status.version, before.version);

  const PressureSum bound = master.status("a").bound;
  master.restart();
  EXPECT_EQ(master.status("a").bound, bound);
  EXPECT_EQ(master.logic().platforms().at(0).share, half);
}

TEST(Platforms, WithoutAPlainNameAreRefused) {
  MasterHarness master;
  for (const char* name : {"", "a b", "-p"}) {
    const auto actions = master.handle(PlatformSet{1, name, fullShare()});
    EXPECT_THAT(only<Answer>(actions).at(0).status.error().message, HasSubstr("platform: ")) << name;
  }
  EXPECT_TRUE(master.logic().platforms().empty());
}

TEST(Platforms, WithAShareBeyondFourAreRefused) {
  MasterHarness master;
  Share share = fullShare();
  share[static_cast<size_t>(Resource::kTlb)] = 1025;
  const auto actions = master.handle(PlatformSet{1, "p", share});
  EXPECT_THAT(only<Answer>(actions).at(0).status.error().message, HasSubstr("tlb"));
  EXPECT_TRUE(master.logic().platforms().empty());
  share[static_cast<size_t>(Resource::kTlb)] = 1024;
  EXPECT_TRUE(only<Answer>(master.handle(PlatformSet{2, "p", share})).at(0).status.ok());
}

TEST(Platforms, AreOfABoundedNumber) {
  MasterHarness master;
  std::vector<ServerFacts> servers;
  for (size_t i = 1; i < kMaxPlatforms; ++i) {
    const std::string number = std::to_string(i);
    servers.push_back(serverFacts("s" + number, 1, "p" + number));
  }
  master.attachMonitor("m", servers);
  ASSERT_TRUE(master.monitorAnswer().status.ok());
  servers.front().platform = "the-last";
  master.attachMonitor("m", servers);
  ASSERT_TRUE(master.monitorAnswer().status.ok());
  const auto set = [&master](const std::string& platform) {
    return only<Answer>(master.handle(PlatformSet{1, platform, fullShare()})).at(0).status;
  };
  servers.front().platform = "p1";
  master.attachMonitor("m", servers);
  EXPECT_TRUE(master.monitorAnswer().status.ok()) << "agents have its number";
  EXPECT_EQ(set("q").error().code, ErrorCode::kExhausted);
  servers.back().platform = "q";
  master.attachMonitor("m", servers);
  EXPECT_EQ(master.monitorAnswer().status.error().code, ErrorCode::kExhausted);
  master.restart();
  EXPECT_TRUE(set("q").ok()) << "no server is of the-last any more";
}

TEST(SharesOfUsers, ArePublishedToAgentsAndKept) {
  MasterHarness master;
  const auto published = only<PublishShares>(master.handle(SharesSet{1, "alice", 3}));
  ASSERT_EQ(published.size(), 1u);
  EXPECT_EQ(published[0].user, "alice");
  EXPECT_EQ(published[0].shares, 3u);
  EXPECT_TRUE(only<PublishShares>(master.handle(SharesSet{2, "alice", 0})).empty());
}

}  // namespace tarcil::settings_test
