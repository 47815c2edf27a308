#include "tests/torture/master_link.h"

#include <kj/debug.h>

#include <utility>

#include "rpc/link.h"
#include "schema/convert_support.h"

namespace tarcil::torture {

MasterLink::MasterLink(Stage& stage, std::string token, kj::Function<kj::Promise<void>(Login&&)> attach)
    : stage_(stage), token_(std::move(token)), attach_(kj::mv(attach)), running_(nullptr) {
  running_ = keepLinked(
                 stage_.net, {stage_.master}, Rng(1),
                 [this](capnp::Capability::Client bootstrap, const std::string&) {
                   auto cut = kj::newPromiseAndFulfiller<void>();
                   cut_ = kj::mv(cut.fulfiller);
                   return logIn(kj::mv(bootstrap)).then([this, cut = kj::mv(cut.promise)]() mutable {
                     attached_ = true;
                     return Attached{kj::mv(cut)};
                   });
                 },
                 [this](const Error&, const std::string&) { attached_ = false; })
                 .eagerlyEvaluate([](kj::Exception&& exception) { KJ_LOG(FATAL, exception); });
}

kj::Promise<void> MasterLink::logIn(capnp::Capability::Client bootstrap) {
  const auto away = static_cast<int64_t>(std::exchange(away_, 0)) * kj::MICROSECONDS;
  return stage_.net.timer.afterDelay(away).then([this, bootstrap = kj::mv(bootstrap)]() mutable {
    auto login = bootstrap.castAs<wire::MasterGate>().loginRequest();
    login.setToken(convert::text(token_));
    return login.send().then([this](Login&& response) { return attach_(kj::mv(response)); });
  });
}

void MasterLink::cut(uint64_t awayMicroseconds) {
  if (!attached_) return;
  attached_ = false;
  away_ = awayMicroseconds;
  cut_->reject(KJ_EXCEPTION(DISCONNECTED, "cut by the test"));
}

}  // namespace tarcil::torture
