// Waiting for something to happen once.
#include "rpc/wait_list.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>

namespace tarcil::wait_list_test {

TEST(WaitList, WakesAllWhoWaitForTheSameOnce) {
  auto io = kj::setupAsyncIo();
  WaitList<int> list;
  auto first = list.wait(1), second = list.wait(1), other = list.wait(2);
  { auto dropped = list.wait(1); }
  list.happened(3);
  EXPECT_FALSE(first.poll(io.waitScope));
  list.happened(1);
  EXPECT_TRUE(first.poll(io.waitScope));
  EXPECT_TRUE(second.poll(io.waitScope));
  EXPECT_FALSE(other.poll(io.waitScope));
  auto again = list.wait(1);
  EXPECT_FALSE(again.poll(io.waitScope)) << "that was before";
  list.happened(1);
  EXPECT_TRUE(again.poll(io.waitScope));
}

}  // namespace tarcil::wait_list_test
