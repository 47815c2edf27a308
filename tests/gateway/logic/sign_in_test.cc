// Words and sessions.
#include "gateway/logic/sign_in.h"

#include <gtest/gtest.h>

namespace tarcil::gateway::sign_in_test {

using namespace std::chrono_literals;

const WallTime kNow{1'000'000s};

Ticket word(const std::string& id, WallTime expires = kNow + 5min) {
  return {.kind = Ticket::Kind::kWord, .id = id, .expires = expires, .token = "secret"};
}

TEST(Ticket, IsReadAsItIsWritten) {
  const Ticket ticket{
      .kind = Ticket::Kind::kSession, .id = "abc", .expires = kNow, .token = "a token with spaces"};
  EXPECT_EQ(Ticket::parse(ticket.text()), ticket);
}

TEST(Ticket, IsNothingElse) {
  for (const char* text :
       {"", "w", "w ", "x a 1 t", "w a", "w a 1", "w a 1 ", "w a one t", "w  1 t", "wa 1 t"})
    EXPECT_EQ(Ticket::parse(text), std::nullopt) << text;
}

TEST(SpentTickets, CountOnce) {
  SpentTickets spent(10);
  EXPECT_FALSE(spent.isSpent(word("a")));
  EXPECT_TRUE(spent.spend(word("a"), kNow));
  EXPECT_TRUE(spent.isSpent(word("a")));
  EXPECT_FALSE(spent.spend(word("a"), kNow));
  EXPECT_TRUE(spent.spend(word("b"), kNow));
}

TEST(SpentTickets, AreForgottenWhenTheyWouldHaveExpired) {
  SpentTickets spent(2);
  EXPECT_TRUE(spent.spend(word("a", kNow + 1s), kNow));
  EXPECT_TRUE(spent.spend(word("b", kNow + 2s), kNow));
  EXPECT_FALSE(spent.spend(word("c"), kNow)) << "there is no room to remember it";
  EXPECT_TRUE(spent.spend(word("c"), kNow + 1s));
  EXPECT_TRUE(spent.isSpent(word("b")));
  EXPECT_EQ(spent.size(), 2u);
}

}  // namespace tarcil::gateway::sign_in_test
