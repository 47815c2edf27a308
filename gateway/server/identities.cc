#include "gateway/server/identities.h"

#include "rpc/errors.h"

namespace tarcil::gateway {
namespace {

constexpr Duration kRightFor = std::chrono::minutes(1);
// What has so long to go was asked a short while ago, for somebody else who has the same token.
constexpr Duration kYoung = std::chrono::seconds(45);
constexpr Duration kWrongFor = std::chrono::seconds(5);

kj::Exception wrong() {
  return toException(denied("the token is wrong, or its session has ended"));
}

}  // namespace

kj::Maybe<const Caller&> Identities::known(const std::string& token) const {
  const auto* answer = known_.at(token, clock_.now().steady);
  if (answer == nullptr || !answer->caller) return nullptr;
  return *answer->caller;
}

kj::Promise<Caller> Identities::check(const std::string& token) {
  const auto* answer = known_.at(token, clock_.now().steady);
  if (answer == nullptr) return ask(token);
  if (!answer->caller) return wrong();
  return Caller(*answer->caller);
}

kj::Promise<bool> Identities::renew(const std::string& token) {
  const MonotonicTime now = clock_.now().steady;
  const auto* answer = known_.at(token, now);
  if (answer != nullptr && answer->caller && answer->until - now > kYoung) return true;
  return ask(token).then(
      [](Caller&&) { return true; },
      [](kj::Exception&& exception) { return fromException(exception).code != ErrorCode::kDenied; });
}

kj::Promise<Caller> Identities::ask(const std::string& token) {
  if (checking_ >= kMaxChecking)
    return toException({ErrorCode::kExhausted, "too many tokens are being checked; try again in a second"});
  ++checking_;
  // Any question: it is the login before it that tells.
  return workers_
      .ask<Caller>(token,
                   [](Cluster& cluster) {
                     cluster.ask([](Session& session) { return session.user.settingsRequest().send(); });
                     return *cluster.client().caller();
                   })
      .then(
          [this, token](Caller&& caller) {
            known_.remember(token, {caller, clock_.now().steady + kRightFor});
            return kj::mv(caller);
          },
          [this, token](kj::Exception&& exception) -> Caller {
            if (fromException(exception).code == ErrorCode::kDenied) {
              known_.remember(token, {std::nullopt, clock_.now().steady + kWrongFor});
            }
            kj::throwFatalException(kj::mv(exception));
          })
      .attach(kj::defer([this]() { --checking_; }));
}

}  // namespace tarcil::gateway
