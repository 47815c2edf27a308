// Threads on which the cluster is asked.
#include "gateway/server/workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "rpc/errors.h"

namespace tarcil::gateway::workers_test {

struct Asking : testing::Test {
  ~Asking() noexcept override {}

  kj::AsyncIoContext io = kj::setupAsyncIo();

  // Nobody listens there, and nothing here asks.
  static std::vector<std::string> agents() { return {"unix:/nowhere"}; }

  std::string failureOf(kj::Promise<int> promise) {
    KJ_IF_MAYBE (exception, kj::runCatchingExceptions([&]() { promise.wait(io.waitScope); })) {
      return fromException(*exception).message;
    }
    return "";
  }
};

TEST_F(Asking, GivesWhatTheQuestionGives) {
  Workers workers(agents(), {.threads = 2});
  EXPECT_EQ(workers.ask<int>("t", [](Cluster&) { return 7; }).wait(io.waitScope), 7);
}

TEST_F(Asking, GivesTheErrorThatAQuestionThrows) {
  Workers workers(agents(), {.threads = 1});
  const std::string failure = failureOf(
      workers.ask<int>("t", [](Cluster&) -> int { throw toException(notFound("it is not there")); }));
  EXPECT_EQ(failure, "it is not there");
  EXPECT_EQ(workers.ask<int>("t", [](Cluster&) { return 1; }).wait(io.waitScope), 1) << "the thread goes on";
}

TEST_F(Asking, TakesUsersInTurnsAndSoManyOfEach) {
  Workers workers(agents(), {.threads = 1, .waiting = 4, .waitingOfUser = 2});
  std::promise<void> begun, gate;
  auto first = workers.ask<int>("a", [&](Cluster&) {
    begun.set_value();
    gate.get_future().wait();
    return 0;
  });
  begun.get_future().wait();
  std::vector<std::string> order;  // written by the one thread, read when all is done
  const auto add = [&](const std::string& user) {
    return workers.ask<int>(user, [&order, user](Cluster&) {
      order.push_back(user);
      return 0;
    });
  };
  auto a1 = add("a"), a2 = add("a"), b1 = add("b"), c1 = add("c");
  EXPECT_EQ(workers.waiting(), 4u);
  EXPECT_THAT(failureOf(kj::evalNow([&]() { return add("d"); })),
              testing::HasSubstr("too many requests wait"));
  gate.set_value();
  for (auto* one : {&first, &a1, &a2, &b1, &c1}) one->wait(io.waitScope);
  EXPECT_THAT(order, testing::ElementsAre("a", "b", "c", "a"));
}

TEST_F(Asking, RefusesMoreOfOneUser) {
  Workers workers(agents(), {.threads = 1, .waiting = 100, .waitingOfUser = 1});
  std::promise<void> begun, gate;
  auto first = workers.ask<int>("a", [&](Cluster&) {
    begun.set_value();
    gate.get_future().wait();
    return 0;
  });
  begun.get_future().wait();
  auto second = workers.ask<int>("a", [](Cluster&) { return 0; });
  EXPECT_THAT(failureOf(kj::evalNow([&]() { return workers.ask<int>("a", [](Cluster&) { return 0; }); })),
              testing::HasSubstr("too many"));
  gate.set_value();
  first.wait(io.waitScope);
  second.wait(io.waitScope);
}

TEST_F(Asking, LeavesOutWhatNobodyWaitsFor) {
  Workers workers(agents(), {.threads = 1});
  std::promise<void> begun, gate;
  auto first = workers.ask<int>("a", [&](Cluster&) {
    begun.set_value();
    gate.get_future().wait();
    return 0;
  });
  begun.get_future().wait();
  bool isAsked = false;
  {
    auto dropped = workers.ask<int>("a", [&isAsked](Cluster&) {
      isAsked = true;
      return 0;
    });
  }
  gate.set_value();
  first.wait(io.waitScope);
  EXPECT_EQ(workers.ask<int>("a", [](Cluster&) { return 5; }).wait(io.waitScope), 5);
  EXPECT_FALSE(isAsked);
}

TEST_F(Asking, EndsWithWhatWaits) {
  kj::Promise<int> left = nullptr;
  std::promise<void> begun;
  std::promise<void> gate;
  std::thread opener;
  {
    Workers workers(agents(), {.threads = 1});
    auto first = workers.ask<int>("a", [&](Cluster&) {
      begun.set_value();
      gate.get_future().wait();
      return 0;
    });
    begun.get_future().wait();
    left = workers.ask<int>("a", [](Cluster&) { return 0; });
    // Not before the end has begun: else what waits is done.
    opener = std::thread([&]() {
      while (workers.waiting() > 0) std::this_thread::yield();
      gate.set_value();
    });
  }
  opener.join();
  EXPECT_NE(failureOf(kj::mv(left)), "");
}

}  // namespace tarcil::gateway::workers_test
