// What monitors measure of their servers: published and shown, not stored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"
#include "tests/support/builders.h"

namespace tarcil::pressure_test {

using namespace master;
using testing::IsEmpty;
using testing::SizeIs;

const Pressure kLoud = pressure({{Resource::kCore, 40}, {Resource::kDiskBandwidth, 7}});
const std::vector<AbsentPressure> kNoLlc = {{Resource::kLlc, "no resctrl"}};

struct MeasuredServers : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)});

  std::vector<Action> report(SessionId session, const std::string& server) {
    return master.handle(PressureReported{session, {{server, kLoud, kNoLlc}}});
  }
  Pressure background(const std::string& server) { return master.status(server).background; }
};

TEST_F(MeasuredServers, ArePublishedOnceWithTheirBackground) {
  const uint64_t version = master.status("a").version;
  const auto published = only<PublishServer>(report(monitor, "a"));
  ASSERT_THAT(published, SizeIs(1));
  EXPECT_EQ(published[0].update.status.background, kLoud);
  EXPECT_GT(published[0].update.status.version, version);
  EXPECT_THAT(only<PublishServer>(report(monitor, "a")), IsEmpty());
  EXPECT_EQ(background("b"), Pressure{});
}

TEST_F(MeasuredServers, AreShownWithTheirBackgroundAndWhatIsAbsent) {
  report(monitor, "a");
  const auto view = master.logic().server("a");
  EXPECT_EQ(view->contention[0], 40);
  EXPECT_EQ(view->absent, kNoLlc);
}

TEST_F(MeasuredServers, AreNotWrittenToTheStore) {
  EXPECT_THAT(only<Persist>(report(monitor, "a")), IsEmpty());
  master.restart();
  EXPECT_EQ(background("a"), Pressure{});
}

TEST_F(MeasuredServers, AreThoseOfTheSessionOnly) {
  const SessionId other = master.attachMonitor("n", {serverFacts("c", 1)});
  report(other, "a");
  report(monitor, "nowhere");
  EXPECT_EQ(background("a"), Pressure{});
  master.detach(monitor);
  report(monitor, "a");
  EXPECT_EQ(background("a"), Pressure{});
}

TEST_F(MeasuredServers, KeepTheirBackgroundWhileTheirMonitorIsAwayAndLoseItToAnother) {
  report(monitor, "a");
  master.detach(monitor);
  master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)});
  EXPECT_EQ(background("a"), kLoud);
  master.detach(master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)}));
  master.attachMonitor("other", {serverFacts("a", 4)});
  EXPECT_EQ(background("a"), Pressure{});
  EXPECT_THAT(master.logic().server("a")->absent, IsEmpty());
}

}  // namespace tarcil::pressure_test
