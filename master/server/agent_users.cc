#include "master/server/agent_users.h"

#include <algorithm>

#include "core/state/run_as.h"

namespace tarcil {

Status AgentUsers::add(const LoginProof& shown, const Caller& caller) {
  const auto found = logins_.find(caller.user);
  const bool isKnown = found != logins_.end() && std::ranges::any_of(found->second, [&](const Login& login) {
                         return login.shown == shown && login.caller == caller;
                       });
  if (isKnown) return {};
  if (count_ >= kMaxLogins) {
    return Error{ErrorCode::kExhausted, std::to_string(kMaxLogins) +
                                            " logins at this agent hold, as many as may; try another agent"};
  }
  ++count_;
  std::list<Login>& logins = logins_[caller.user];
  const auto place = logins.insert(logins.end(), {shown, caller});
  watching_.add(watch_.untilEnded(shown, caller).catch_([](kj::Exception&&) {}).then([this, place]() {
    const auto user = logins_.find(place->caller.user);
    user->second.erase(place);
    if (user->second.empty()) logins_.erase(user);
    --count_;
  }));
  return {};
}

std::string AgentUsers::whyNotSubmit(const std::string& user, const std::string& runAs) const {
  const auto found = logins_.find(user);
  if (found == logins_.end()) return "no user '" + user + "' is logged in at this agent; log in again";
  std::string why;
  for (const auto& [shown, caller] : found->second) {
    if (caller.role == Role::kRead) {
      why = "user " + user + " may look and change nothing";
    } else if (const Status may = checkRunAs(runAs, caller); !may) {
      why = may.error().message;
    } else {
      return "";
    }
  }
  return why;
}

}  // namespace tarcil
