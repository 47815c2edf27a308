#include "agent/late/late_link.h"

#include <spdlog/spdlog.h>

#include "agent/late/late_binding.h"
#include "env/stop.h"
#include "rpc/errors.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

// More would only queue up at a monitor that is slow; what gathers meanwhile goes in one message.
constexpr int kMaxInFlight = 4;

}  // namespace

bool LateOutbox::empty() const {
  return reserves.empty() && cancels.empty() && gives.empty() && forgets.empty() && stops.empty() &&
         surroundings.empty();
}

void LateOutbox::clear() {
  reserves.clear();
  cancels.clear();
  gives.clear();
  forgets.clear();
  stops.clear();
  surroundings.clear();
}

// What the monitor calls. It may outlive the session, on a connection that is being closed.
class LateLink::Port final : public wire::LateAgentPort::Server {
 public:
  explicit Port(LateLink& link) : link_(&link) { link.listener_ = this; }
  ~Port() noexcept(false) {
    if (link_ != nullptr) link_->listener_ = nullptr;
  }

  void forgetLink() { link_ = nullptr; }

  kj::Promise<void> tell(TellContext context) override {
    if (link_ == nullptr || !link_->isUp()) {
      return toException({ErrorCode::kConflict, "the session is over: open another one"});
    }
    link_->agent_.take(*link_, context.getParams().getNews());
    if (!link_->outbox.empty()) link_->agent_.write(*link_, context.getResults().initNews());
    return kj::READY_NOW;
  }

 private:
  LateLink* link_;
};

LateLink::LateLink(LateBindingAgent& agent, Net net, std::string address, const std::string& server,
                   std::string token, Rng rng)
    : agent_(agent),
      address_(std::move(address)),
      token_(tokenFor(net, address_, token)),
      calls_(*this),
      link_(keepLinked(
                net, {address_}, rng,
                [this](capnp::Capability::Client monitor, const std::string&) {
                  return attach(kj::mv(monitor));
                },
                [this](const Error& error, const std::string&) { lost(error); },
                {MemberRole::kMonitor, server})
                .eagerlyEvaluate(stopsIfFailed("the link to a monitor"))) {}

LateLink::~LateLink() noexcept(false) {
  if (listener_ != nullptr) listener_->forgetLink();
}

kj::Promise<Attached> LateLink::attach(capnp::Capability::Client monitor) {
  auto login = monitor.castAs<wire::MonitorGate>().loginRequest();
  login.setToken(convert::text(token_));
  auto request = login.send().getLauncher().lateBindingRequest();
  request.setAgent(kj::heap<Port>(*this));
  return request.send().then([this](auto&& answer) {
    auto fault = kj::newPromiseAndFulfiller<void>();
    fault_ = kj::mv(fault.fulfiller);
    port_ = answer.getPort();
    ++session_;
    inFlight_ = 0;
    outage_.end();
    serverNames = convert::readTexts(answer.getServers());
    servers.assign(serverNames.size(), std::nullopt);
    outbox.clear();
    toldGrants.clear();
    agent_.sessionBegan(*this);
    return Attached{kj::mv(fault.promise)};
  });
}

void LateLink::lost(const Error& error) {
  if (outage_.begins(error)) {
    spdlog::warn("late binding: the monitor at {} is out of reach: {}; trying again", address_,
                 error.message);
  }
  end();
}

// Nothing that was said in the session is heard any more.
void LateLink::end() {
  if (listener_ != nullptr) listener_->forgetLink();
  listener_ = nullptr;
  if (port_ == nullptr) return;
  port_ = nullptr;
  outbox.clear();
  agent_.sessionEnded(*this);
  servers.clear();
  serverNames.clear();
}

void LateLink::fail(const kj::Exception& exception) {
  end();
  fault_->reject(kj::cp(exception));
}

void LateLink::flush() {
  KJ_IF_MAYBE (port, port_) {
    if (outbox.empty() || inFlight_ >= kMaxInFlight) return;
    auto request = port->tellRequest();
    agent_.write(*this, request.initNews());
    ++inFlight_;
    calls_.add(request.send().then(
        [this, session = session_](auto&& answer) {
          if (session != session_ || !isUp()) return;
          --inFlight_;
          agent_.take(*this, answer.getNews());
          flush();
        },
        [this, session = session_](kj::Exception&& exception) {
          if (session == session_ && isUp()) fail(exception);
        }));
  }
}

void LateLink::taskFailed(kj::Exception&& exception) {
  fail(exception);
}

}  // namespace tarcil
