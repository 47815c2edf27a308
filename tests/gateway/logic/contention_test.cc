// Servers by resources.
#include "gateway/logic/contention.h"

#include <gtest/gtest.h>

#include "core/model/residents.h"

namespace tarcil::gateway::contention_test {

ServerPressures server(const std::string& name, const std::string& rack, int32_t slack) {
  ServerPressures server{
      .name = name, .platform = "p", .rack = rack, .state = "up", .units = 8, .freeUnits = 3};
  server.slack.fill(slack);
  return server;
}

TEST(ContentionRows, OfServersAreByName) {
  const auto rows = contentionRows({server("b", "r1", 5), server("a", "r2", -7)}, RowsBy::kServer);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_EQ(rows[0].slack[0], -7);
  EXPECT_EQ(rows[0].at[0], "a");
  EXPECT_EQ(rows[0].rack, "r2");
}

TEST(ContentionRows, OfBucketsAreOfThoseThatTakeTasks) {
  auto first = server("a", "r1", 5), second = server("b", "r2", 3);
  first.bucket = second.bucket = "7";
  const auto rows = contentionRows({first, second, server("down", "r1", 1)}, RowsBy::kBucket);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].name, "7");
  EXPECT_EQ(rows[0].servers, 2u);
  EXPECT_EQ(rows[0].platform, "p");
  EXPECT_EQ(rows[0].rack, "");
  EXPECT_EQ(contentionRows({first}, RowsBy::kServer)[0].bucket, "7");
}

TEST(ContentionRows, OfSeveralServersHaveTheLeastSlackAndWhereItIs) {
  auto loud = server("c", "r1", 40);
  loud.slack[3] = -5;
  loud.contention[3] = 80;
  loud.absent.set(1);
  loud.state = "down";
  const auto rows = contentionRows({server("a", "r1", 10), server("b", "r2", 1), loud}, RowsBy::kRack);
  ASSERT_EQ(rows.size(), 2u);
  const ContentionRow& row = rows[0];
  EXPECT_EQ(row.name, "r1");
  EXPECT_EQ(row.servers, 2u);
  EXPECT_EQ(row.units, 16u);
  EXPECT_EQ(row.freeUnits, 6u);
  EXPECT_EQ(row.states, (std::map<std::string, uint32_t>{{"down", 1}, {"up", 1}}));
  EXPECT_EQ(row.slack[0], 10);
  EXPECT_EQ(row.at[0], "a");
  EXPECT_EQ(row.slack[3], -5);
  EXPECT_EQ(row.at[3], "c");
  EXPECT_EQ(row.contention[3], 80);
  EXPECT_EQ(row.notMeasured[1], 1u);
  EXPECT_EQ(row.platform, "");
}

TEST(ContentionRows, HaveNoSlackWhereNobodyCanBeHurt) {
  const auto rows = contentionRows({server("a", "r", kNoResident - 90)}, RowsBy::kServer);
  EXPECT_EQ(rows[0].slack[0], std::nullopt);
  EXPECT_EQ(rows[0].at[0], "");
}

TEST(ContentionRows, AreWithinWhatPressuresCanBe) {
  const auto rows = contentionRows({server("a", "r", -500), server("b", "r", 300)}, RowsBy::kServer);
  EXPECT_EQ(rows[0].slack[0], -99);
  EXPECT_EQ(rows[1].slack[0], 99);
}

}  // namespace tarcil::gateway::contention_test
