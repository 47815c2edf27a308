#include "master/logic/queue/reserved_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::master::reserved_servers_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

WallTime at(int seconds) {
  return WallTime(std::chrono::seconds(seconds));
}

TEST(ReservedServers, AreThoseThatAreFreeSoonest) {
  std::vector<Prospect> prospects{{0, 0, {{at(300), 1}}}, {1, 0, {{at(100), 1}}}, {2, 1, {}}};
  const ReservedServers chosen = chooseReserved(prospects, 1, 2, 2);
  EXPECT_THAT(chosen.servers, ElementsAre(1, 2));
  EXPECT_EQ(chosen.start, at(100));
}

TEST(ReservedServers, UnitsOfDifferentServersMakeNoSlot) {
  std::vector<Prospect> prospects{{0, 1, {{at(300), 1}}}, {1, 1, {{at(200), 1}}}};
  const ReservedServers chosen = chooseReserved(prospects, 2, 1, 1);
  EXPECT_THAT(chosen.servers, ElementsAre(1));
  EXPECT_EQ(chosen.start, at(200));
}

TEST(ReservedServers, OneServerCanGiveSeveral) {
  std::vector<Prospect> prospects{{0, 2, {{at(50), 4}}}, {1, 0, {{at(90), 6}}}};
  const ReservedServers chosen = chooseReserved(prospects, 2, 3, 3);
  EXPECT_THAT(chosen.servers, ElementsAre(0));
  EXPECT_EQ(chosen.start, at(50));
}

TEST(ReservedServers, OfThoseThatNobodyKnowsOfTheOnesWithTheFewestUnitsToWaitForAreChosen) {
  std::vector<Prospect> prospects{{0, 0, {{kNever, 4}}}, {1, 3, {{kNever, 1}}}, {2, 2, {{kNever, 2}}}};
  const ReservedServers chosen = chooseReserved(prospects, 4, 1, 2);
  EXPECT_THAT(chosen.servers, ElementsAre(1, 2));
  EXPECT_EQ(chosen.start, kNever);
}

TEST(ReservedServers, TheStartIsThatOfTheSlotsThatAreWanted) {
  std::vector<Prospect> prospects{{0, 0, {{at(10), 1}, {at(20), 1}, {at(30), 1}}}};
  EXPECT_EQ(chooseReserved(prospects, 1, 2, 3).start, at(20));
}

TEST(ReservedServers, AllThereAreWhereTheyAreTooFew) {
  std::vector<Prospect> prospects{{0, 1, {}}, {1, 1, {}}};
  const ReservedServers chosen = chooseReserved(prospects, 1, 3, 6);
  EXPECT_THAT(chosen.servers, ElementsAre(0, 1));
  EXPECT_EQ(chosen.start, kNever);
  EXPECT_THAT(chooseReserved({}, 1, 1, 1).servers, IsEmpty());
}

}  // namespace tarcil::master::reserved_servers_test
