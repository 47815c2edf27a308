// What a stream gets that goes on where it left off.
#include "gateway/logic/event_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::gateway::event_ring_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kInstance = 0xabc;
constexpr size_t kPlenty = 1 << 20;

const Caller kAlice{"alice", Role::kSubmit, {}};
const Caller kOperator{"olga", Role::kOperate, {}};

TEST(EventRing, GivesWhatCameBehindAPosition) {
  EventRing ring(kInstance);
  ring.add({"queue", "1"});
  const EventPosition after = ring.end();
  ring.add({"queue", "2"});
  const EventRing::Page page = ring.behind(after, kAlice, kPlenty);
  EXPECT_EQ(page.text, "id: abc-2\nevent: queue\ndata: 2\n\n");
  EXPECT_EQ(page.next, ring.end());
  EXPECT_EQ(ring.behind(page.next, kAlice, kPlenty).text, "");
}

TEST(EventRing, ShowsJobsOfOthersToOperatorsAlone) {
  EventRing ring(kInstance);
  ring.add({"job", "bobs", "bob"});
  ring.add({"job", "alices", "alice"});
  EXPECT_THAT(ring.behind({kInstance, 0}, kAlice, kPlenty).text,
              AllOf(HasSubstr("alices"), Not(HasSubstr("bobs"))));
  EXPECT_THAT(ring.behind({kInstance, 0}, kOperator, kPlenty).text,
              AllOf(HasSubstr("alices"), HasSubstr("bobs")));
  // What is not shown is behind the reader all the same.
  EXPECT_EQ(ring.behind({kInstance, 0}, kAlice, kPlenty).next, ring.end());
}

TEST(EventRing, ForgetsTheOldestAndSaysSoToWhoeverAsksForThem) {
  EventRing ring(kInstance, {.events = 2});
  for (const char* data : {"1", "2", "3", "4"}) ring.add({"queue", data});
  EXPECT_EQ(ring.size(), 2u);
  const EventRing::Page page = ring.behind({kInstance, 1}, kAlice, kPlenty);
  EXPECT_TRUE(page.isReset);
  EXPECT_THAT(page.text, testing::StartsWith("id: abc-2\nevent: reset\ndata: {\"reason\":"));
  EXPECT_THAT(page.text, AllOf(HasSubstr("data: 3\n"), HasSubstr("data: 4\n"), Not(HasSubstr("data: 2\n"))));
  EXPECT_FALSE(ring.behind({kInstance, 2}, kAlice, kPlenty).isReset);
}

TEST(EventRing, ForgetsByBytesToo) {
  EventRing ring(kInstance, {.events = 100, .bytes = 50});
  for (int i = 0; i < 10; ++i) ring.add({"queue", std::string(20, 'x')});
  EXPECT_EQ(ring.size(), 2u);
  ring.add({"queue", std::string(1'000, 'y')});
  EXPECT_EQ(ring.size(), 1u);
}

TEST(EventRing, SaysThatAnotherInstancesOrALaterPositionIsNotItsOwn) {
  EventRing ring(kInstance);
  ring.add({"queue", "1"});
  for (const EventPosition position : {EventPosition{kInstance + 1, 1}, EventPosition{kInstance, 2}}) {
    const EventRing::Page page = ring.behind(position, kAlice, kPlenty);
    EXPECT_TRUE(page.isReset);
    EXPECT_EQ(page.next, ring.end());
  }
}

TEST(EventRing, SaysWhyWhatCameBetweenIsNotKnown) {
  EventRing ring(kInstance);
  ring.add({"queue", "1"});
  const EventPosition before = ring.end();
  ring.forget("the cluster was away");
  ring.add({"queue", "2"});
  const EventRing::Page page = ring.behind(before, kAlice, kPlenty);
  EXPECT_TRUE(page.isReset);
  EXPECT_THAT(page.text, AllOf(HasSubstr("the cluster was away"), HasSubstr("data: 2\n")));
}

TEST(EventRing, GivesPagesOfABoundedSize) {
  EventRing ring(kInstance);
  for (int i = 0; i < 10; ++i) ring.add({"queue", std::string(100, 'x')});
  EventPosition position{kInstance, 0};
  int pages = 0;
  for (; position != ring.end(); ++pages) {
    const EventRing::Page page = ring.behind(position, kAlice, 250);
    EXPECT_LT(page.text.size(), 250u + 200u);
    position = page.next;
  }
  EXPECT_GT(pages, 3);
}

TEST(EventPosition, IsReadAsItIsWritten) {
  const EventPosition position{0x1234, 0xffff'ffff'ffff'ffff};
  const auto read = EventPosition::parse(position.text());
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, position);
}

TEST(EventPosition, ThatIsNoneIsRefusedWithWhatToWrite) {
  for (const char* text :
       {"", "-", "1", "1-", "-1", "x-1", "1-1-1", "1 -1", "+1-1", "11111111111111111-1", "1-\n"}) {
    const auto read = EventPosition::parse(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr("is no id of an event; write one that a stream gave"));
  }
}

}  // namespace tarcil::gateway::event_ring_test
