// Answers that are repeated.
#include "gateway/logic/answer_cache.h"

#include <gtest/gtest.h>

namespace tarcil::gateway::answer_cache_test {

using namespace std::chrono_literals;

constexpr MonotonicTime kStart{};

AnswerCache::Kept answer(const std::string& body, MonotonicTime made = kStart) {
  return {std::make_shared<const std::string>(body), made};
}

TEST(AnswerCache, RepeatsAnAnswerToTheSameUserWhileItIsYoung) {
  AnswerCache cache(500ms, 1 << 20);
  cache.put("alice", "/a", answer("1"));
  ASSERT_NE(cache.find("alice", "/a", kStart + 499ms), nullptr);
  EXPECT_EQ(*cache.find("alice", "/a", kStart + 499ms)->body, "1");
  EXPECT_EQ(cache.find("bob", "/a", kStart), nullptr);
  EXPECT_EQ(cache.find("alice", "/b", kStart), nullptr);
  EXPECT_EQ(cache.find("alice", "/a", kStart + 500ms), nullptr);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(AnswerCache, ForgetsAllOfAUser) {
  AnswerCache cache(1s, 1 << 20);
  cache.put("alice", "/a", answer("1"));
  cache.put("alice", "/b", answer("2"));
  cache.put("bob", "/a", answer("3"));
  cache.forget("alice");
  EXPECT_EQ(cache.find("alice", "/a", kStart), nullptr);
  EXPECT_EQ(cache.find("alice", "/b", kStart), nullptr);
  EXPECT_NE(cache.find("bob", "/a", kStart), nullptr);
}

TEST(AnswerCache, LetsTheOneGoThatWasAskedForLongestAgo) {
  AnswerCache cache(1s, 300);
  cache.put("u", "/a", answer(std::string(100, 'a')));
  cache.put("u", "/b", answer(std::string(100, 'b')));
  cache.find("u", "/a", kStart);
  cache.put("u", "/c", answer(std::string(100, 'c')));
  EXPECT_NE(cache.find("u", "/a", kStart), nullptr);
  EXPECT_EQ(cache.find("u", "/b", kStart), nullptr);
  EXPECT_LE(cache.bytes(), 300u);
}

TEST(AnswerCache, KeepsNoneThatIsLargerThanAllMayBe) {
  AnswerCache cache(1s, 300);
  cache.put("u", "/a", answer("1"));
  cache.put("u", "/b", answer(std::string(1'000, 'b')));
  EXPECT_EQ(cache.find("u", "/b", kStart), nullptr);
  EXPECT_NE(cache.find("u", "/a", kStart), nullptr);
}

TEST(AnswerCache, HasTheLastOneOfAQuestion) {
  AnswerCache cache(1s, 1 << 20);
  cache.put("u", "/a", answer("1"));
  const size_t bytes = cache.bytes();
  cache.put("u", "/a", answer("2"));
  EXPECT_EQ(*cache.find("u", "/a", kStart)->body, "2");
  EXPECT_EQ(cache.bytes(), bytes);
}

}  // namespace tarcil::gateway::answer_cache_test
