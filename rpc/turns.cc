#include "rpc/turns.h"

#include <utility>

#include "env/stop.h"

namespace tarcil {

kj::Promise<void> Turns::take() {
  if (!std::exchange(isGiving_, true)) {
    giving_ = giveNext().eagerlyEvaluate(stopsIfFailed("turns"));
  }
  if (left_ > 0) {
    --left_;
    return kj::READY_NOW;
  }
  auto turn = kj::newPromiseAndFulfiller<void>();
  waiting_.push_back(kj::mv(turn.fulfiller));
  return kj::mv(turn.promise);
}

kj::Promise<void> Turns::giveNext() {
  return nextTurn(timer_).then([this]() -> kj::Promise<void> {
    left_ = atOnce_;
    ++round_;
    while (left_ > 0 && !waiting_.empty()) {
      if (waiting_.front()->isWaiting()) {
        waiting_.front()->fulfill();
        --left_;
      }
      waiting_.pop_front();
    }
    isGiving_ = left_ < atOnce_;
    return isGiving_ ? giveNext() : kj::Promise<void>(kj::READY_NOW);
  });
}

}  // namespace tarcil
