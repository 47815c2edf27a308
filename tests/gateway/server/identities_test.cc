#include "gateway/server/identities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "rpc/errors.h"

namespace tarcil::gateway::identities_test {

TEST(Identities, SoManyAreCheckedAtATime) {
  auto io = kj::setupAsyncIo();
  // Nobody listens there, and nothing here asks: the one thread is held up.
  Workers workers({"unix:/nowhere"}, {.threads = 1});
  std::promise<void> begun, gate;
  auto held = workers.ask<int>("", [&](Cluster&) {
    begun.set_value();
    gate.get_future().wait();
    return 0;
  });
  begun.get_future().wait();
  {
    Identities identities(workers, systemClock());
    std::vector<kj::Promise<Caller>> checks;
    for (size_t i = 0; i < Identities::kMaxChecking; ++i) {
      checks.push_back(identities.check(std::to_string(i)));
      ASSERT_FALSE(checks.back().poll(io.waitScope)) << i;
    }
    auto beyond = identities.check("one more");
    ASSERT_TRUE(beyond.poll(io.waitScope));
    KJ_IF_MAYBE (exception, kj::runCatchingExceptions([&]() { beyond.wait(io.waitScope); })) {
      EXPECT_EQ(fromException(*exception).code, ErrorCode::kExhausted);
    } else {
      FAIL() << "it is being checked, too";
    }
  }
  gate.set_value();
  EXPECT_EQ(held.wait(io.waitScope), 0);
}

}  // namespace tarcil::gateway::identities_test
