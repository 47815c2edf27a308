// The users who have logged in at one agent since it attached: it may submit jobs of theirs, and of nobody
// else.
#pragma once

#include <kj/async.h>

#include <list>
#include <map>
#include <set>
#include <string>

#include "audit/logic/entry.h"
#include "core/state/caller.h"
#include "env/stop.h"
#include "master/server/login_watch.h"

namespace tarcil {

// Single-threaded.
class AgentUsers final {
 public:
  // Logins at one agent that hold; where there are more nobody is let in.
  static constexpr size_t kMaxLogins = 100'000;
  // That the audit log names of one login; of more it says that there are.
  static constexpr size_t kMaxAddresses = 4;

  // `watch` outlives it.
  explicit AgentUsers(LoginWatch& watch) : watch_(watch) {}

  // Somebody has logged in, until what was shown no longer holds; `by`: as the audit log has them. Exhausted
  // where too many have.
  Status add(const LoginProof& shown, const Caller& caller, const audit::Requester& by);

  // Who it is, for the audit log, for whom the agent submits jobs of the user that run as this system user:
  // somebody who has logged in under that name, to change things, and may have jobs run so. Where they did
  // from several addresses all are told. Denied where nobody has.
  Result<audit::Requester> submitterOf(const std::string& user, const std::string& runAs) const;

 private:
  struct Login {
    LoginProof shown;
    Caller caller;
    audit::Requester by;
    std::set<std::string> addresses;  // at most one more than are named

    audit::Requester who() const;
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
