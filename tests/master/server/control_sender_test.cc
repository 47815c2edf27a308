// What one monitor is told, and what gathers while it does not answer.
#include "master/server/control_sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async.h>

#include <deque>
#include <vector>

namespace tarcil::control_sender_test {

using testing::ElementsAre;
using testing::SizeIs;

// A monitor that answers when the test says so.
class PlayedMonitor final : public wire::MonitorControl::Server {
 public:
  struct Taken {
    std::vector<std::vector<AllocationId>> stops;
    std::deque<kj::Own<kj::PromiseFulfiller<void>>> unanswered;
  };
  explicit PlayedMonitor(Taken& taken) : taken_(taken) {}

  kj::Promise<void> stop(StopContext context) override {
    auto& stops = taken_.stops.emplace_back();
    for (const AllocationId allocation : context.getParams().getAllocations()) stops.push_back(allocation);
    auto answer = kj::newPromiseAndFulfiller<void>();
    taken_.unanswered.push_back(kj::mv(answer.fulfiller));
    return kj::mv(answer.promise);
  }

 private:
  Taken& taken_;
};

TEST(StopsForAMonitor, ThatDoesNotAnswerAreJoinedEachTaskOnce) {
  kj::EventLoop loop;
  kj::WaitScope scope(loop);
  kj::TimerImpl timer(kj::origin<kj::TimePoint>());
  PlayedMonitor::Taken monitor;
  ControlSender sender(timer, kj::heap<PlayedMonitor>(monitor),
                       [](const Error& error) { FAIL() << error.message; });
  sender.stop(1);
  scope.poll();
  ASSERT_THAT(monitor.stops, SizeIs(1));
  for (int round = 0; round < 1'000; ++round) {
    for (const AllocationId allocation : {3, 2, 3}) sender.stop(allocation);
    scope.poll();
  }
  EXPECT_THAT(monitor.stops, ElementsAre(ElementsAre(1))) << "one message is under way at a time";
  monitor.unanswered.front()->fulfill();
  scope.poll();
  EXPECT_THAT(monitor.stops, ElementsAre(ElementsAre(1), ElementsAre(2, 3)));
}

}  // namespace tarcil::control_sender_test
