#include "sim/event_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace tarcil::sim::event_queue_test {

RC_GTEST_PROP(EventQueue, GivesEventsByTimeAndThoseOfOneTimeAsTheyCame, (const std::vector<uint8_t>& times)) {
  EventQueue<int> queue;
  std::vector<std::pair<uint8_t, int>> expected;
  for (size_t i = 0; i < times.size(); ++i) {
    queue.push(SimTime(times[i]), static_cast<int>(i));
    expected.emplace_back(times[i], static_cast<int>(i));
  }
  std::sort(expected.begin(), expected.end());
  for (const auto& [time, event] : expected) {
    RC_ASSERT(queue.nextTime() == SimTime(time));
    RC_ASSERT(queue.pop() == event);
  }
  RC_ASSERT(queue.empty());
}

TEST(EventQueue, TakesEventsWhileItGivesOthers) {
  EventQueue<char> queue;
  queue.push(SimTime(10), 'b');
  queue.push(SimTime(5), 'a');
  EXPECT_EQ(queue.pop(), 'a');
  queue.push(SimTime(20), 'd');
  queue.push(SimTime(10), 'c');
  EXPECT_EQ(queue.pop(), 'b');
  EXPECT_EQ(queue.pop(), 'c');
  EXPECT_EQ(queue.nextTime(), SimTime(20));
}

}  // namespace tarcil::sim::event_queue_test
