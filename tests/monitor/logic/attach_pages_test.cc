#include "monitor/logic/attach_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tarcil::monitor::attach_pages_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<ServerFacts> servers(size_t count) {
  std::vector<ServerFacts> all(count);
  for (size_t i = 0; i < count; ++i) all[i].name = "s" + std::to_string(i);
  return all;
}

TEST(AttachPages, HaveTheServersInTheirOrderWithTheirTasks) {
  const auto all = servers(5);
  const auto pages = attachPages(all, {{1, "s4"}, {2, "s0"}, {3, "gone"}, {4, "s2"}, {5, "s0"}}, 2);
  ASSERT_EQ(pages.size(), 3u);
  EXPECT_THAT(pages[0].servers, ElementsAre(all[0], all[1]));
  EXPECT_THAT(pages[0].tasks, ElementsAre(KnownTask{2, "s0"}, KnownTask{3, "gone"}, KnownTask{5, "s0"}));
  EXPECT_THAT(pages[1].servers, ElementsAre(all[2], all[3]));
  EXPECT_THAT(pages[1].tasks, ElementsAre(KnownTask{4, "s2"}));
  EXPECT_THAT(pages[2].servers, ElementsAre(all[4]));
  EXPECT_THAT(pages[2].tasks, ElementsAre(KnownTask{1, "s4"}));
}

TEST(AttachPages, AreOneWhereThereIsNothingOrAllFits) {
  const auto none = attachPages({}, {});
  ASSERT_EQ(none.size(), 1u);
  EXPECT_THAT(none[0].servers, IsEmpty());
  EXPECT_EQ(attachPages(servers(kServersOfPage), {}).size(), 1u);
  EXPECT_EQ(attachPages(servers(kServersOfPage + 1), {}).size(), 2u);
}

}  // namespace tarcil::monitor::attach_pages_test
