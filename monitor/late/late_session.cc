#include "monitor/late/late_session.h"

#include <kj/debug.h>
#include <spdlog/spdlog.h>

#include "monitor/late/late_binding.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

// More would only queue up at an agent that is slow; what gathers meanwhile goes in one message.
constexpr int kMaxCalls = 4;

uint64_t micros(Duration duration) {
  return static_cast<uint64_t>(std::max<int64_t>(duration.count(), 0));
}

void writeStart(const auto& message, wire::LateStart::Builder to) {
  to.setJob(message.job);
  to.setLease(message.lease);
  to.setTask(message.task);
}

}  // namespace

LateMonitorSession::~LateMonitorSession() noexcept(false) {
  end();
}

void LateMonitorSession::end() {
  if (monitor_ != nullptr) std::exchange(monitor_, nullptr)->sessionEnded(*this);
}

kj::Promise<void> LateMonitorSession::tell(TellContext context) {
  if (monitor_ == nullptr)
    return toException({ErrorCode::kConflict, "the session is over: open another one"});
  monitor_->take(*this, context.getParams().getNews());
  if (hasNews()) write(context.getResults().initNews());
  return kj::READY_NOW;
}

void LateMonitorSession::sayDenied(const std::string& user, const std::string& runAs) {
  if (std::exchange(isDenialSaid_, true)) return;
  spdlog::warn(
      "late binding: an agent has no grant by the master for tasks of {} as {}, which are not started", user,
      runAs);
}

void LateMonitorSession::flush() {
  if (!hasNews() || inFlight_ >= kMaxCalls) return;
  auto request = agent_.tellRequest();
  write(request.initNews());
  ++inFlight_;
  calls_.add(request.send().then([this](auto&& answer) {
    --inFlight_;
    if (monitor_ == nullptr) return;
    monitor_->take(*this, answer.getNews());
    flush();
  }));
}

void LateMonitorSession::write(wire::LateMonitorNews::Builder to) {
  const auto size = [](const auto& list) { return static_cast<uint32_t>(list.size()); };
  if (!asks.empty()) {
    auto list = to.initAsks(size(asks));
    for (uint32_t i = 0; i < list.size(); ++i) {
      list[i].setServer(asks[i].server);
      list[i].setProbe(asks[i].probe);
      list[i].setJob(asks[i].job);
      list[i].setLease(asks[i].lease);
      list[i].setQueued(micros(asks[i].queued));
    }
  }
  if (!started.empty()) {
    auto list = to.initStarted(size(started));
    for (uint32_t i = 0; i < list.size(); ++i) writeStart(started[i], list[i]);
  }
  if (!notStarted.empty()) {
    auto list = to.initNotStarted(size(notStarted));
    for (uint32_t i = 0; i < list.size(); ++i) writeStart(notStarted[i], list[i]);
  }
  if (!ended.empty()) {
    auto list = to.initEnded(size(ended));
    for (uint32_t i = 0; i < list.size(); ++i) {
      list[i].setServer(ended[i].server);
      list[i].setTask(ended[i].task);
      list[i].setJob(ended[i].job);
      list[i].setLease(ended[i].lease);
      list[i].setCode(ended[i].code);
      list[i].setGetTask(static_cast<uint32_t>(std::min<uint64_t>(micros(ended[i].getTask), UINT32_MAX)));
      list[i].setQueue(micros(ended[i].queue));
      list[i].setService(micros(ended[i].service));
    }
  }
  asks.clear();
  started.clear();
  notStarted.clear();
  ended.clear();
}

// The agent is out of reach: its connection is about to end.
void LateMonitorSession::taskFailed(kj::Exception&& exception) {
  KJ_LOG(INFO, "a session of late binding is over", exception);
  end();
}

}  // namespace tarcil
