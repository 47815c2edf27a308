#include "master/logic/queue/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/state/occupancy.h"
#include "tests/master/master_harness.h"

namespace tarcil::forecast_test {

using namespace std::chrono_literals;
using Basis = WaitEstimate::Basis;
using testing::ElementsAre;
using testing::SizeIs;

constexpr MonotonicTime kStart{1'000s};

// A server that is up, with all of its units free.
ServerUpdate idle(ServerId id, uint32_t rus, const std::string& platform = "p") {
  ServerUpdate server;
  server.id = id;
  server.facts = serverFacts("s" + std::to_string(id), rus, platform);
  server.status.up = true;
  server.status.version = 1;
  rebuild(server.status, {}, *server.facts, fullShare());
  return server;
}

// A published state of servers, and what follows it.
struct Forecasts : testing::Test {
  explicit Forecasts(std::vector<ServerUpdate> servers = {idle(0, 4), idle(1, 4, "q")})
      : published(std::move(servers), {}, {}), forecast(published, kStart) {}

  void occupy(ServerId id, AllocationId allocation, const Profile& profile = {}) {
    change(id, [&](ServerUpdate& server) {
      tarcil::occupy(server.status, residents[id],
                     {allocation, server.status.free.first(1), profile.caused, profile.tolerated},
                     *server.facts, fullShare());
    });
  }
  void vacate(ServerId id, AllocationId allocation) {
    change(id, [&](ServerUpdate& server) {
      tarcil::vacate(server.status, residents[id], allocation, *server.facts, fullShare());
    });
  }
  void fill() {
    for (AllocationId i = 0; i < 8; ++i) occupy(static_cast<ServerId>(i / 4), 100 + i);
  }
  // For an hour a unit comes free each ten seconds, on one server after the other, and is taken again.
  // Requires: fill().
  void turnOver() {
    for (int i = 0; i < 360; ++i) {
      now += 10s;
      const auto server = static_cast<ServerId>(i % 2);
      const AllocationId allocation = 100 + 4 * server;
      vacate(server, allocation);
      occupy(server, allocation);
    }
  }
  template <typename Change>
  void change(ServerId id, Change what) {
    ServerUpdate server = published.server(id);
    what(server);
    published.take(server);
    forecast.serverChanged(id, now);
  }
  std::optional<WaitEstimate> wait(uint32_t slots = 1, uint64_t ahead = 0) {
    return forecast.waitOf(spec(), slots, ahead, now);
  }

  MonotonicTime now = kStart;
  PublishedState published;
  Forecast forecast;
  std::map<ServerId, std::vector<Resident>> residents;
};

TEST_F(Forecasts, BucketsAreOfOnePlatformEach) {
  const auto buckets = forecast.buckets(now);
  ASSERT_THAT(buckets, SizeIs(2));
  EXPECT_EQ(buckets[0].platform, "p");
  EXPECT_EQ(buckets[1].platform, "q");
  EXPECT_EQ(buckets[0].summary.servers, 1u);
  EXPECT_EQ(buckets[0].summary.free, 4u);
}

TEST_F(Forecasts, TellBucketsInPages) {
  const auto first = forecast.buckets(now, 0, 1);
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0].platform, "p");
  const auto second = forecast.buckets(now, first[0].summary.bucket + 1, 1);
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].platform, "q");
  EXPECT_THAT(forecast.buckets(now, second[0].summary.bucket + 1, 1), SizeIs(0));
}

TEST_F(Forecasts, BucketsHaveOnlyServersThatTakeTasks) {
  change(1, [](ServerUpdate& server) { server.status.cordoned = true; });
  EXPECT_THAT(forecast.buckets(now), SizeIs(1));
}

TEST_F(Forecasts, AJobThatFindsASlotDoesNotWait) {
  EXPECT_EQ(wait(), std::nullopt);
  EXPECT_EQ(wait(8), std::nullopt);
}

TEST_F(Forecasts, WhatThoseAheadWantIsNotFree) {
  EXPECT_EQ(wait(1, 7), std::nullopt);
  EXPECT_NE(wait(1, 8), std::nullopt);
}

TEST_F(Forecasts, OnlyAJobThatSaysForHowLongWaitsForAMargin) {
  for (ServerId server : {0, 1}) occupy(server, 100 + server, causing(Resource::kLlc, 20));
  JobSpec tight = spec();
  tight.profile.tolerated[static_cast<size_t>(Resource::kLlc)] = 24;
  EXPECT_EQ(forecast.waitOf(tight, 1, 0, now), std::nullopt);
  tight.maxWait = 1h;
  EXPECT_NE(forecast.waitOf(tight, 1, 0, now), std::nullopt);
}

TEST_F(Forecasts, NothingIsKnownOfAClusterThatHasJustStarted) {
  fill();
  EXPECT_EQ(wait()->basis, Basis::kTooYoung);
}

TEST_F(Forecasts, AWaitFollowsFromHowUnitsCameFree) {
  fill();
  turnOver();
  const auto wait = this->wait(6);
  ASSERT_EQ(wait->basis, Basis::kHistory);
  EXPECT_NEAR(static_cast<double>(wait->mean / 1s), 60, 15);
  EXPECT_GE(wait->likely, wait->mean);
  const auto behindOthers = this->wait(6, 12);
  EXPECT_NEAR(static_cast<double>(behindOthers->mean / 1s), 180, 30);
}

TEST_F(Forecasts, OnlyServersThatSuitTheJobCount) {
  Profile noisy;
  noisy.caused.fill(90);
  noisy.tolerated.fill(99);
  occupy(0, 50, noisy);
  JobSpec sensitive = spec();
  sensitive.profile.tolerated.fill(10);
  EXPECT_EQ(forecast.waitOf(sensitive, 4, 0, now), std::nullopt);
  EXPECT_NE(forecast.waitOf(sensitive, 5, 0, now), std::nullopt);
}

JobSpec onlyOn(const std::string& platform) {
  JobSpec job = spec();
  job.placement.constraints = {{"platform", Constraint::Operator::kEqual, {platform}}};
  return job;
}

JobSpec withGpu() {
  JobSpec job = spec();
  job.extras = {{"gpus", 1}};
  return job;
}

TEST_F(Forecasts, AJobWithConstraintsFindsTheSlotsOfItsServersOnly) {
  EXPECT_EQ(forecast.waitOf(onlyOn("q"), 4, 0, now), std::nullopt);
  EXPECT_NE(forecast.waitOf(onlyOn("q"), 5, 0, now), std::nullopt);
  EXPECT_EQ(forecast.waitOf(onlyOn("none"), 1, 0, now)->basis, Basis::kTooFew);
}

// Half of the units come free where it may go.
TEST_F(Forecasts, AJobWithConstraintsWaitsForWhatComesFreeThere) {
  fill();
  turnOver();
  const auto wait = forecast.waitOf(onlyOn("q"), 6, 0, now);
  ASSERT_EQ(wait->basis, Basis::kHistory);
  EXPECT_NEAR(static_cast<double>(wait->mean / 1s), 120, 30);
  EXPECT_NE(forecast.startOf(onlyOn("q"), 6, 0, Now{now, WallTime(1h)}), kNever);
}

// Of the units of one platform, and so of those that come free on its servers, a half.
TEST(ForecastOfOnePlatform, AJobWithConstraintsWaitsForItsShareOfWhatComesFree) {
  ServerUpdate fast = idle(0, 4), slow = idle(1, 4);
  fast.facts->attributes["disk"] = "ssd";
  struct TwoAlike : Forecasts {
    using Forecasts::Forecasts;
    void TestBody() override {}
  } cluster({fast, slow});
  JobSpec job = spec();
  job.placement.constraints = {{"disk", Constraint::Operator::kEqual, {"ssd"}}};
  EXPECT_EQ(cluster.forecast.waitOf(job, 4, 0, cluster.now), std::nullopt);
  EXPECT_NE(cluster.forecast.waitOf(job, 5, 0, cluster.now), std::nullopt);
  cluster.fill();
  cluster.turnOver();
  const auto wait = cluster.forecast.waitOf(job, 6, 0, cluster.now);
  ASSERT_EQ(wait->basis, Basis::kHistory);
  EXPECT_NEAR(static_cast<double>(wait->mean / 1s), 120, 30);
}

TEST_F(Forecasts, ServersThatGetOtherAttributesCountFromThenOn) {
  JobSpec job = spec();
  job.placement.constraints = {{"disk", Constraint::Operator::kEqual, {"ssd"}}};
  EXPECT_EQ(forecast.waitOf(job, 1, 0, now)->basis, Basis::kTooFew);
  change(0, [](ServerUpdate& server) { server.facts->attributes["disk"] = "ssd"; });
  EXPECT_EQ(forecast.waitOf(job, 4, 0, now), std::nullopt);
}

TEST_F(Forecasts, NothingIsToldOfAJobThatOnlyExtrasKeepWaiting) {
  change(0, [](ServerUpdate& server) { server.facts->extras = {{"gpus", 1}}; });
  JobSpec job = withGpu();
  job.maxWait = 7s;
  EXPECT_EQ(forecast.waitOf(job, 1, 0, now)->basis, Basis::kTooFew) << "units are free";
  EXPECT_EQ(forecast.startOf(job, 1, 0, Now{now, WallTime(1h)}), kNever);
  EXPECT_EQ(forecast.boundOf(job, 1, 0, now), job.maxWait);
}

TEST_F(Forecasts, AJobWithExtrasWaitsForServersThatHaveThem) {
  change(1, [](ServerUpdate& server) { server.facts->extras = {{"gpus", 1}}; });
  fill();
  EXPECT_EQ(forecast.waitOf(withGpu(), 1, 0, now)->basis, Basis::kTooYoung);
  JobSpec more = withGpu();
  more.extras = {{"gpus", 2}};
  EXPECT_EQ(forecast.waitOf(more, 1, 0, now)->basis, Basis::kTooFew) << "no server has so many";
}

}  // namespace tarcil::forecast_test
