#include "master/server/login_watch.h"

#include <utility>

#include "rpc/errors.h"

namespace tarcil {

// One login, as long as somebody waits for its end.
class LoginWatch::Standing final {
 public:
  Standing(kj::PromiseFulfiller<void>& end, std::shared_ptr<List> all, LoginProof what, Caller who)
      : shown(std::move(what)), caller(std::move(who)), end_(end), all_(std::move(all)) {
    place_ = all_->insert(all_->end(), this);
  }
  ~Standing() noexcept(false) { all_->erase(place_); }
  KJ_DISALLOW_COPY(Standing);

  void end(const Error& why) { end_.reject(toException(why)); }

  const LoginProof shown;
  const Caller caller;

 private:
  kj::PromiseFulfiller<void>& end_;
  const std::shared_ptr<List> all_;
  List::iterator place_;
};

kj::Promise<void> LoginWatch::untilEnded(LoginProof shown, Caller caller) {
  return kj::newAdaptedPromise<void, Standing>(standing_, std::move(shown), std::move(caller));
}

void LoginWatch::judge(Standing& standing) {
  const auto now = judge_(standing.shown);
  if (!now) {
    standing.end(now.error());
  } else if (*now != standing.caller) {
    standing.end(denied("what " + standing.caller.user + " may do has changed; log in again"));
  }
}

void LoginWatch::look(const std::string& user) {
  for (Standing* standing : *standing_) {
    if (standing->caller.user == user) judge(*standing);
  }
}

void LoginWatch::lookAtAll() {
  for (Standing* standing : *standing_) judge(*standing);
}

}  // namespace tarcil
