#include "agent/server/user_logins.h"

#include <utility>
#include <vector>

#include "rpc/errors.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {

using convert::text;

// One connection's, as long as that stands.
class UserLogins::Session final {
 public:
  Session(kj::PromiseFulfiller<void>& end, UserLogins& all, const Proof& shown, Caller who)
      : caller(std::move(who)), end_(end), login_(all.logins_.try_emplace(shown).first) {
    auto& sessions = login_->second.sessions;
    place_ = sessions.insert(sessions.end(), this);
  }
  ~Session() noexcept(false) { login_->second.sessions.erase(place_); }
  KJ_DISALLOW_COPY(Session);

  void end(const Error& why) { end_.reject(toException(why)); }

  const Caller caller;

 private:
  kj::PromiseFulfiller<void>& end_;
  const std::map<Proof, Login>::iterator login_;
  std::list<Session*>::iterator place_;
};

kj::Promise<UserLogins::User> UserLogins::logIn(const Proof& shown) {
  if (const auto found = logins_.find(shown); found != logins_.end()) {
    KJ_IF_MAYBE (user, found->second.user) {
      return *user;
    }
  }
  if (master_ != nullptr) return ask(shown);
  return untilLinked().then([this, shown]() { return ask(shown); });
}

kj::Promise<void> UserLogins::untilLinked() {
  if (waiting_ >= kMaxWaiting) return noMaster();
  ++waiting_;
  return links_.wait(0).exclusiveJoin(timer_.afterDelay(kMaxWait)).attach(kj::defer([this]() {
    --waiting_;
  }));
}

kj::Exception UserLogins::noMaster() const {
  return toException({ErrorCode::kUnavailable, problem_});
}

kj::Promise<UserLogins::User> UserLogins::ask(const Proof& shown) {
  KJ_IF_MAYBE (master, master_) {
    auto take = [this, shown, asked = asked_](auto&& answer) {
      User user{read(answer.getCaller()), answer.getUser()};
      if (asked == asked_) remember(shown, user);
      return user;
    };
    if (shown.token.empty()) {
      auto request = master->vouchRequest();
      request.setUser(text(shown.localUser));
      request.setFrom(text(shown.from));
      return request.send().then(kj::mv(take));
    }
    auto request = master->authenticateRequest();
    request.setToken(text(shown.token));
    request.setFrom(text(shown.from));
    return request.send().then(kj::mv(take));
  }
  return noMaster();
}

void UserLogins::remember(const Proof& shown, User user) {
  if (logins_.size() >= kMaxRemembered)
    std::erase_if(logins_, [](const auto& each) { return each.second.sessions.empty(); });
  Login& login = logins_[shown];
  login.watching =
      user.port.loginEndsRequest()
          .send()
          .ignoreResult()
          .catch_([](kj::Exception&& exception) -> kj::Promise<void> {
            // One that says why it is over has ended; else the master is of an earlier version, or gone,
            // of which the link tells.
            if (fromException(exception).code == ErrorCode::kDenied) return kj::READY_NOW;
            return kj::NEVER_DONE;
          })
          .then([this, shown]() { looks_.add(kj::evalLater([this, shown]() { forget(shown); })); })
          .eagerlyEvaluate(stopsIfFailed("a login"));
  login.user = std::move(user);
}

void UserLogins::forget(const Proof& shown) {
  const auto found = logins_.find(shown);
  if (found == logins_.end()) return;
  found->second.user = nullptr;
  found->second.watching = nullptr;
  if (found->second.sessions.empty()) {
    logins_.erase(found);
  } else {
    lookAgain(shown);
  }
}

void UserLogins::lookAgain(const Proof& shown) {
  looks_.add(ask(shown).then(
      [this, shown](User&& user) {
        const auto found = logins_.find(shown);
        if (found == logins_.end()) return;
        for (Session* session : found->second.sessions) {
          if (session->caller != user.caller)
            session->end(denied("what " + session->caller.user + " may do has changed; log in again"));
        }
      },
      [this, shown](kj::Exception&& exception) {
        const Error error = fromException(exception);
        // Else the master is away, and is asked when it is back.
        if (error.code == ErrorCode::kDenied) endSessions(shown, error);
      }));
}

void UserLogins::endSessions(const Proof& shown, const Error& why) {
  const auto found = logins_.find(shown);
  if (found == logins_.end()) return;
  for (Session* session : found->second.sessions) session->end(why);
}

kj::Promise<void> UserLogins::untilEnded(const Proof& shown, const Caller& caller) {
  return kj::newAdaptedPromise<void, Session>(*this, shown, caller);
}

void UserLogins::linked(wire::AgentPort::Client master) {
  master_ = kj::mv(master);
  forget();
  links_.happened(0);
}

void UserLogins::unlinked(const std::string& problem) {
  master_ = nullptr;
  problem_ = problem;
  ++asked_;
  for (auto& [shown, login] : logins_) {
    login.user = nullptr;
    login.watching = nullptr;
  }
  std::erase_if(logins_, [](const auto& each) { return each.second.sessions.empty(); });
}

void UserLogins::forget() {
  ++asked_;
  std::vector<Proof> all;
  for (const auto& [shown, login] : logins_) all.push_back(shown);
  for (const Proof& shown : all) forget(shown);
}

}  // namespace tarcil
