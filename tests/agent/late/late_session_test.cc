// A session with a client that does not take what it is told.
#include "agent/late/late_session.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>

#include "agent/late/late_binding.h"
#include "rpc/errors.h"

namespace tarcil::late_session_test {

// Hears of results and never answers.
class SilentClient final : public wire::LateClient::Server {
 public:
  explicit SilentClient(size_t& heard) : heard_(heard) {}

  kj::Promise<void> over(OverContext context) override {
    heard_ += context.getParams().getTasks().size();
    return kj::NEVER_DONE;
  }

 private:
  size_t& heard_;
};

TEST(ALateSession, WhoseClientTakesNoResultsIsToldNothingMore) {
  auto io = kj::setupAsyncIo();
  const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
  AgentMetrics metrics;
  LateBindingAgent agent(net, systemClock(), Rng(1), "token", metrics, {}, nullptr, nullptr);
  auto fair = kj::refcounted<FairCalls>(net.timer);
  size_t heard = 0;
  auto made = kj::heap<LateSession>(agent, fair->user("alice"), Caller{"alice", Role::kSubmit, {}},
                                    kj::heap<SilentClient>(heard),
                                    /*mostUntold=*/3);
  LateSession& session = *made;
  wire::LateClientPort::Client port = kj::mv(made);
  const auto end = [&session](TaskIndex task) { session.over(1, task, {}, "s1"); };
  end(0);
  session.flush();
  for (TaskIndex task = 1; task <= 3; ++task) end(task);
  port.submitRequest().send().wait(io.waitScope);
  end(4);
  const Error refused =
      port.submitRequest()
          .send()
          .then([](auto&&) { return Error{}; }, [](kj::Exception&& e) { return fromException(e); })
          .wait(io.waitScope);
  EXPECT_EQ(refused.code, ErrorCode::kUnavailable);
  session.flush();
  EXPECT_EQ(heard, 1u);
}

}  // namespace tarcil::late_session_test
