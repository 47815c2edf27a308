#include "monitor/logic/performance/trouble_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::trouble_book_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr MonotonicTime kStart(100s);

Trouble trouble(AllocationId allocation, bool over = false) {
  Trouble made;
  made.allocation = allocation;
  made.over = over;
  return made;
}

// "1", "2 over"
std::vector<std::string> due(TroubleBook& book, MonotonicTime now) {
  std::vector<std::string> told;
  for (const Trouble& one : book.due(now)) {
    told.push_back(std::to_string(one.allocation) + (one.over ? " over" : ""));
  }
  return told;
}

TEST(TroubleBook, TellsEachOnceAndAtMostOnceASecond) {
  TroubleBook book;
  book.attached();
  book.note(trouble(1));
  EXPECT_THAT(due(book, kStart), ElementsAre("1"));
  book.taken();
  book.note(trouble(2));
  book.note(trouble(3));
  EXPECT_THAT(due(book, kStart + 500ms), IsEmpty());
  EXPECT_EQ(book.nextDue(), kStart + 1s);
  EXPECT_THAT(due(book, kStart + 1s), ElementsAre("2", "3"));
  book.taken();
  EXPECT_THAT(due(book, kStart + 9s), IsEmpty());
  EXPECT_EQ(book.nextDue(), std::nullopt);
}

TEST(TroubleBook, OnlyTheLatestWordCounts) {
  TroubleBook book;
  book.attached();
  book.note(trouble(1));
  book.note(trouble(1, true));
  EXPECT_THAT(due(book, kStart), ElementsAre("1 over"));
}

TEST(TroubleBook, AWordThatChangedWhileItWasUnderWayIsToldAgain) {
  TroubleBook book;
  book.attached();
  book.note(trouble(1));
  due(book, kStart);
  book.note(trouble(1, true));
  EXPECT_THAT(due(book, kStart + 5s), IsEmpty());  // one at a time
  book.taken();
  EXPECT_THAT(due(book, kStart + 5s), ElementsAre("1 over"));
}

TEST(TroubleBook, AfterEachAttachAllWhoAreInTroubleAreTold) {
  TroubleBook book;
  book.attached();
  book.note(trouble(1));
  book.note(trouble(2));
  due(book, kStart);
  book.taken();
  book.note(trouble(2, true));
  due(book, kStart + 2s);
  book.taken();
  book.detached();
  EXPECT_THAT(due(book, kStart + 5s), IsEmpty());
  book.attached();
  EXPECT_THAT(due(book, kStart + 5s), ElementsAre("1"));
}

TEST(TroubleBook, AnEndThatWasLostWithTheLinkIsToldAgain) {
  TroubleBook book;
  book.attached();
  book.note(trouble(1));
  due(book, kStart);
  book.taken();
  book.note(trouble(1, true));
  EXPECT_THAT(due(book, kStart + 2s), ElementsAre("1 over"));
  book.detached();
  book.attached();
  EXPECT_THAT(due(book, kStart + 2s), ElementsAre("1 over"));
}

TEST(TroubleBook, NothingIsToldOfATaskThatHasEnded) {
  TroubleBook book;
  book.attached();
  book.note(trouble(1));
  book.forget(1);
  EXPECT_THAT(due(book, kStart), IsEmpty());
}

}  // namespace tarcil::trouble_book_test
