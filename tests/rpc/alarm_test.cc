// Timers of roles.
#include "env/alarm.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>

#include <stdexcept>

namespace tarcil::alarm_test {

TEST(AnAlarm, FiresEachTimeThatItIsSet) {
  auto io = kj::setupAsyncIo();
  auto second = kj::newPromiseAndFulfiller<void>();
  int fired = 0;
  Alarm alarm(io.provider->getTimer(), systemClock(), [&]() {
    if (++fired == 2) return second.fulfiller->fulfill();
    alarm.set(systemClock().now().steady);
  });
  alarm.set(systemClock().now().steady);
  second.promise.wait(io.waitScope);
  EXPECT_EQ(fired, 2);
}

TEST(AnAlarm, ThatFailsEndsTheProcessWithAMessage) {
  EXPECT_EXIT(
      {
        auto io = kj::setupAsyncIo();
        Alarm alarm(io.provider->getTimer(), systemClock(), []() { throw std::runtime_error("no more"); });
        alarm.set(systemClock().now().steady);
        io.provider->getTimer().afterDelay(1 * kj::SECONDS).wait(io.waitScope);
      },
      testing::ExitedWithCode(1), "a timer failed: .*no more");
}

}  // namespace tarcil::alarm_test
