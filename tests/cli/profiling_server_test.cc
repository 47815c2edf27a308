#include "cli/profiling_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::profiling_server_test {

using testing::HasSubstr;

ServerDetails server(const std::string& name, uint32_t rus, uint32_t free) {
  ServerDetails result;
  result.facts.name = name;
  result.facts.rus = result.facts.cores = rus;
  result.status.up = true;
  for (uint32_t ru = 0; ru < free; ++ru) result.status.free.insert(static_cast<RuIndex>(ru));
  return result;
}

std::string chosen(const std::vector<ServerDetails>& servers, const std::string& name = "",
                   uint32_t cores = 1) {
  const auto result = serverToProfileOn(servers, name, cores);
  return result ? (*result)->facts.name : result.error().message;
}

TEST(ProfilingServer, IsTheSmallestThatHasACoreToPressFrom) {
  const std::vector servers = {server("one", 1, 1), server("eight", 8, 8), server("two", 2, 2)};
  EXPECT_EQ(chosen(servers), "two");
  EXPECT_EQ(chosen(servers, "", 2), "eight");
}

TEST(ProfilingServer, IsRatherFreeThanSmall) {
  EXPECT_EQ(chosen({server("small", 2, 1), server("large", 8, 8)}), "large");
  EXPECT_EQ(chosen({server("small", 2, 1), server("large", 8, 0)}), "small");
}

TEST(ProfilingServer, TakesNewTasksAndIsReal) {
  std::vector servers = {server("down", 2, 2), server("cordoned", 2, 2), server("emulated", 2, 2),
                         server("large", 8, 0)};
  servers[0].status.up = false;
  servers[1].status.cordoned = true;
  servers[2].facts.emulated = true;
  EXPECT_EQ(chosen(servers), "large");
}

// Four units on one core are one core.
TEST(ProfilingServer, HasCoresAndNotOnlyUnits) {
  ServerDetails shared = server("shared", 4, 4);
  shared.facts.cores = 1;
  EXPECT_THAT(chosen({shared}), HasSubstr("shared has 1 core, and a command that gets 1 takes one more"));
}

TEST(ProfilingServer, ThatIsNamedMustDo) {
  std::vector servers = {server("one", 1, 1), server("two", 2, 0)};
  EXPECT_EQ(chosen(servers, "two"), "two");
  EXPECT_THAT(chosen(servers, "one"), HasSubstr("--server: one has 1 core"));
  EXPECT_THAT(chosen(servers, "three"), HasSubstr("there is no server 'three'"));
  servers[1].status.cordoned = true;
  servers[1].reason = "cordoned by root";
  EXPECT_THAT(chosen(servers, "two"), HasSubstr("two takes no new tasks: cordoned by root; name another"));
  servers[1].facts.emulated = true;
  EXPECT_THAT(chosen(servers, "two"), HasSubstr("two is emulated"));
}

ServerDetails on(const std::string& platform, const std::string& name, uint32_t rus, uint32_t free) {
  ServerDetails result = server(name, rus, free);
  result.facts.platform = platform;
  return result;
}

std::vector<std::string> others(const std::vector<ServerDetails>& servers, const std::string& reference,
                                size_t count, uint32_t cores = 1) {
  std::vector<std::string> names;
  for (const ServerDetails* server : serversOfOtherPlatforms(servers, "a", reference, cores, count))
    names.push_back(server->facts.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(OtherPlatforms, ComeInTheOrderOfReferenceThenServers) {
  const std::vector servers = {on("a", "a1", 2, 2), on("b", "b1", 2, 2), on("c", "c1", 2, 2),
                               on("c", "c2", 2, 2), on("d", "d1", 2, 2)};
  EXPECT_EQ(others(servers, "d", 9), (Names{"d1", "c1", "b1"}));
  EXPECT_EQ(others(servers, "d", 2), (Names{"d1", "c1"}));
  EXPECT_EQ(others(servers, "a", 1), (Names{"c1"})) << "the reference is measured already";
  EXPECT_EQ(others(servers, "gone", 1), (Names{"c1"}));
  EXPECT_EQ(others(servers, "d", 0), Names());
}

TEST(OtherPlatforms, AreMeasuredOnAFreeServerThatHasTheCores) {
  const std::vector servers = {on("b", "busy", 2, 1), on("b", "large", 8, 8), on("b", "small", 4, 4),
                               on("b", "one", 1, 1)};
  EXPECT_EQ(others(servers, "", 1), Names{"one"}) << "there is nothing to press on";
  EXPECT_EQ(others(servers, "", 1, 2), Names{"small"});
  EXPECT_EQ(others(servers, "", 1, 9), Names());
}

TEST(OtherPlatforms, AreLeftOutWhereNoServerCanMeasure) {
  std::vector servers = {on("b", "emulated", 2, 2), on("c", "down", 2, 2), on("d", "cordoned", 2, 2)};
  servers[0].facts.emulated = true;
  servers[1].status.up = false;
  servers[2].status.cordoned = true;
  EXPECT_EQ(others(servers, "b", 9), Names());
}

TEST(ProfilingServer, IsMissedWithAReason) {
  EXPECT_THAT(chosen({}), HasSubstr("no server has registered"));
  EXPECT_THAT(chosen({server("a", 1, 1), server("b", 1, 1)}), HasSubstr("no server can do it: a has 1 core"));
}

}  // namespace tarcil::profiling_server_test
