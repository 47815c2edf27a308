#include "audit/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tarcil::chain_test {

using namespace audit;
using testing::HasSubstr;

constexpr WallTime kTime{std::chrono::hours(24 * 365 * 50)};

Entry entry(const std::string& user, const std::string& action) {
  return {.time = kTime, .by = {.user = user, .knownBy = "uid"}, .action = action, .object = "job 7"};
}

// Without its end.
std::string lineOf(Chain& chain, const Entry& entry) {
  std::string line;
  chain.add(entry, line);
  EXPECT_EQ(line.back(), '\n');
  line.pop_back();
  return line;
}

TEST(AuditChain, LinksEachEntryToTheOneBefore) {
  Chain chain;
  const auto first = placeOf(lineOf(chain, entry("ann", "job.submit")));
  const auto second = placeOf(lineOf(chain, entry("bob", "job.cancel")));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->self.sequence, 1u);
  EXPECT_EQ(first->previous, Sha256{});
  EXPECT_EQ(second->self.sequence, 2u);
  EXPECT_EQ(second->previous, first->self.hash);
  EXPECT_EQ(chain.last(), second->self);
}

TEST(AuditChain, IsTheSameForWhoeverGoesOnWithIt) {
  Chain one;
  std::string all;
  one.add(entry("ann", "job.submit"), all);
  Chain other(one.last());
  EXPECT_EQ(lineOf(one, entry("bob", "job.cancel")), lineOf(other, entry("bob", "job.cancel")));
}

TEST(AuditChain, WritesATermWhereMastersFollowEachOther) {
  Chain chain({}, 42);
  EXPECT_THAT(lineOf(chain, entry("ann", "job.submit")), HasSubstr("\"term\":42,"));
}

TEST(AuditChain, CutsTextsThatAreTooLong) {
  Chain chain;
  const std::string line = lineOf(chain, entry(std::string(100'000, '\x01'), "job.submit"));
  EXPECT_LE(line.size(), kMaxLineBytes);
  EXPECT_EQ(fieldsOf(line)->entry.by.user.size(), kMaxText);
}

RC_GTEST_PROP(AuditChain, TellsWhatWasWritten, ()) {
  const auto text = [] { return *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127)); };
  Entry written{.time = kTime,
                .by = {text(), text(), text(), text()},
                .action = text(),
                .object = text(),
                .outcome = text(),
                .detail = text(),
                .count = *rc::gen::arbitrary<uint64_t>()};
  Chain chain;
  const std::string line = lineOf(chain, written);
  RC_ASSERT(line.find('\n') == std::string::npos);
  RC_ASSERT(placeOf(line).has_value());
  auto fields = fieldsOf(line);
  RC_ASSERT(fields.has_value());
  fields->entry.time = written.time;
  RC_ASSERT(fields->entry == written);
}

// Whatever is in a name, it is one line, and all of it text.
RC_GTEST_PROP(AuditChain, TakesAnyBytes, (const std::string& bytes)) {
  Chain chain;
  const std::string line = lineOf(chain, entry(bytes, bytes));
  RC_ASSERT(line.find('\n') == std::string::npos);
  RC_ASSERT(placeOf(line).has_value());
  RC_ASSERT(fieldsOf(line).has_value());
  for (const char c : line) RC_ASSERT(c >= ' ' && c <= '~');
}

RC_GTEST_PROP(AuditChain, SeesEveryChangeOfAByte, ()) {
  Chain chain({7, {1, 2, 3}}, 3);
  std::string line = lineOf(chain, entry("ann", "job.cancel"));
  const auto at = *rc::gen::inRange<size_t>(0, line.size());
  const auto byte = *rc::gen::arbitrary<char>();
  RC_PRE(byte != line[at]);
  line[at] = byte;
  RC_ASSERT(!placeOf(line).has_value());
}

RC_GTEST_PROP(AuditChain, ReadsNoStrangersLineForOne, (const std::string& bytes)) {
  RC_ASSERT(!placeOf(bytes).has_value());
  fieldsOf(bytes);
}

TEST(AuditFilter, PassesByTimeUserAndAction) {
  Chain chain;
  const std::string line = lineOf(chain, entry("ann", "job.cancel"));
  EXPECT_TRUE(passes({}, line));
  EXPECT_TRUE(passes({.since = kTime, .until = kTime + Duration(1), .user = "ann", .action = "job"}, line));
  EXPECT_TRUE(passes({.action = "job.cancel"}, line));
  EXPECT_FALSE(passes({.action = "job.can"}, line));
  EXPECT_FALSE(passes({.user = "bob"}, line));
  EXPECT_FALSE(passes({.since = kTime + Duration(1)}, line));
  EXPECT_FALSE(passes({.until = kTime}, line));
  EXPECT_FALSE(passes({}, "no line"));
}

}  // namespace tarcil::chain_test
