#include "monitor/logic/performance/violation_tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::violation_tracker_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr MonotonicTime kStart(100s);

Violation violation(AllocationId allocation, bool over = false) {
  Violation made;
  made.allocation = allocation;
  made.over = over;
  return made;
}

// "1", "2 over"
std::vector<std::string> due(ViolationTracker& book, MonotonicTime now) {
  std::vector<std::string> told;
  for (const Violation& one : book.due(now)) {
    told.push_back(std::to_string(one.allocation) + (one.over ? " over" : ""));
  }
  return told;
}

TEST(ViolationTracker, TellsEachOnceAndAtMostOnceASecond) {
  ViolationTracker book;
  book.attached();
  book.note(violation(1));
  EXPECT_THAT(due(book, kStart), ElementsAre("1"));
  book.taken();
  book.note(violation(2));
  book.note(violation(3));
  EXPECT_THAT(due(book, kStart + 500ms), IsEmpty());
  EXPECT_EQ(book.nextDue(), kStart + 1s);
  EXPECT_THAT(due(book, kStart + 1s), ElementsAre("2", "3"));
  book.taken();
  EXPECT_THAT(due(book, kStart + 9s), IsEmpty());
  EXPECT_EQ(book.nextDue(), std::nullopt);
}

TEST(ViolationTracker, TellsAtMostAThousandAtOnce) {
  ViolationTracker book;
  book.attached();
  for (AllocationId task = 1; task <= 1'500; ++task) book.note(violation(task));
  EXPECT_THAT(book.due(kStart), SizeIs(1'000));
  book.taken();
  EXPECT_THAT(book.due(kStart + 1s), SizeIs(500));
  book.taken();
  EXPECT_EQ(book.nextDue(), std::nullopt);
}

TEST(ViolationTracker, OnlyTheLatestWordCounts) {
  ViolationTracker book;
  book.attached();
  book.note(violation(1));
  book.note(violation(1, true));
  EXPECT_THAT(due(book, kStart), ElementsAre("1 over"));
}

TEST(ViolationTracker, AWordThatChangedWhileItWasUnderWayIsToldAgain) {
  ViolationTracker book;
  book.attached();
  book.note(violation(1));
  due(book, kStart);
  book.note(violation(1, true));
  EXPECT_THAT(due(book, kStart + 5s), IsEmpty());  // one at a time
  book.taken();
  EXPECT_THAT(due(book, kStart + 5s), ElementsAre("1 over"));
}

TEST(ViolationTracker, AfterEachAttachAllDegradedTasksAreTold) {
  ViolationTracker book;
  book.attached();
  book.note(violation(1));
  book.note(violation(2));
  due(book, kStart);
  book.taken();
  book.note(violation(2, true));
  due(book, kStart + 2s);
  book.taken();
  book.detached();
  EXPECT_THAT(due(book, kStart + 5s), IsEmpty());
  book.attached();
  EXPECT_THAT(due(book, kStart + 5s), ElementsAre("1"));
}

TEST(ViolationTracker, AnEndThatWasLostWithTheLinkIsToldAgain) {
  ViolationTracker book;
  book.attached();
  book.note(violation(1));
  due(book, kStart);
  book.taken();
  book.note(violation(1, true));
  EXPECT_THAT(due(book, kStart + 2s), ElementsAre("1 over"));
  book.detached();
  book.attached();
  EXPECT_THAT(due(book, kStart + 2s), ElementsAre("1 over"));
}

TEST(ViolationTracker, NothingIsToldOfATaskThatHasEnded) {
  ViolationTracker book;
  book.attached();
  book.note(violation(1));
  book.forget(1);
  EXPECT_THAT(due(book, kStart), IsEmpty());
}

}  // namespace tarcil::violation_tracker_test
