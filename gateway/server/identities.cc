#include "gateway/server/identities.h"

#include "rpc/errors.h"

namespace tarcil::gateway {
namespace {

constexpr Duration kRightFor = std::chrono::minutes(1);
// What has so long to go was asked a short while ago, for somebody else who has the same token.
constexpr Duration kYoung = std::chrono::seconds(45);
constexpr Duration kWrongFor = std::chrono::seconds(5);
constexpr size_t kMaxKnown = 10'000;
constexpr size_t kMaxChecking = 100;

kj::Exception wrong() {
  return toException(denied("the token is wrong, or its session has ended"));
}

}  // namespace

kj::Maybe<const Caller&> Identities::known(const std::string& token) const {
  const auto found = byToken_.find(token);
  if (found == byToken_.end() || found->second->until <= clock_.now().steady) return nullptr;
  KJ_IF_MAYBE (caller, found->second->caller) {
    return *caller;
  }
  return nullptr;
}

kj::Promise<Caller> Identities::check(const std::string& token) {
  if (const auto found = byToken_.find(token);
      found != byToken_.end() && found->second->until > clock_.now().steady) {
    KJ_IF_MAYBE (caller, found->second->caller) {
      return Caller(*caller);
    }
    return wrong();
  }
  return ask(token);
}

kj::Promise<bool> Identities::renew(const std::string& token) {
  const auto found = byToken_.find(token);
  if (found != byToken_.end() && found->second->caller != nullptr &&
      found->second->until - clock_.now().steady > kYoung)
    return true;
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
            remember(token, Caller(caller), kRightFor);
            return kj::mv(caller);
          },
          [this, token](kj::Exception&& exception) -> Caller {
            if (fromException(exception).code == ErrorCode::kDenied) remember(token, nullptr, kWrongFor);
            kj::throwFatalException(kj::mv(exception));
          })
      .attach(kj::defer([this]() { --checking_; }));
}

void Identities::remember(const std::string& token, kj::Maybe<Caller> caller, Duration time) {
  if (const auto there = byToken_.find(token); there != byToken_.end()) {
    inOrder_.erase(there->second);
    byToken_.erase(there);
  }
  inOrder_.push_back({token, kj::mv(caller), clock_.now().steady + time});
  byToken_.emplace(token, std::prev(inOrder_.end()));
  if (inOrder_.size() <= kMaxKnown) return;
  byToken_.erase(inOrder_.front().token);
  inOrder_.pop_front();
}

}  // namespace tarcil::gateway
