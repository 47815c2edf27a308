// The users who have logged in at one agent since it attached: it may submit jobs of theirs, and of nobody
// else.
#pragma once

#include <kj/async.h>

#include <list>
#include <map>
#include <string>

#include "core/state/caller.h"
#include "env/stop.h"
#include "master/server/login_watch.h"

namespace tarcil {

// Single-threaded.
class AgentUsers final {
 public:
  // Logins at one agent that hold; where there are more nobody is let in.
  static constexpr size_t kMaxLogins = 100'000;

  // `watch` outlives it.
  explicit AgentUsers(LoginWatch& watch) : watch_(watch) {}

  // Somebody has logged in, until what was shown no longer holds. Exhausted where too many have.
  Status add(const LoginProof& shown, const Caller& caller);

  // Why the agent may not submit jobs of the user that run as this system user; empty where somebody has
  // logged in who may: under that name, to change things, and as that system user.
  std::string whyNotSubmit(const std::string& user, const std::string& runAs) const;

 private:
  struct Login {
    LoginProof shown;
    Caller caller;
  };
  // By user; none is empty.
  using Logins = std::map<std::string, std::list<Login>>;

  LoginWatch& watch_;
  Logins logins_;
  size_t count_ = 0;
  StopsIfFailed stops_{"logins at an agent"};
  kj::TaskSet watching_{stops_};
};

}  // namespace tarcil
