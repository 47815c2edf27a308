#include "master/server/agent_users.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/state/run_as.h"

namespace tarcil {

Status AgentUsers::add(const LoginProof& shown, const Caller& caller, const audit::Requester& by) {
  if (const auto found = logins_.find(caller.user); found != logins_.end()) {
    const auto known = std::ranges::find_if(
        found->second, [&](const Login& login) { return login.shown == shown && login.caller == caller; });
    if (known != found->second.end()) {
      known->addresses.insert(by.address);
      if (known->addresses.size() > kMaxAddresses + 1)
        known->addresses.erase(std::prev(known->addresses.end()));
      return {};
    }
  }
  if (count_ >= kMaxLogins) {
    return Error{ErrorCode::kExhausted, std::to_string(kMaxLogins) +
                                            " logins at this agent hold, as many as may; try another agent"};
  }
  ++count_;
  std::list<Login>& logins = logins_[caller.user];
  const auto place = logins.insert(logins.end(), {shown, caller, by, {by.address}});
  watching_.add(watch_.untilEnded(shown, caller).catch_([](kj::Exception&&) {}).then([this, place]() {
    const auto user = logins_.find(place->caller.user);
    user->second.erase(place);
    if (user->second.empty()) logins_.erase(user);
    --count_;
  }));
  return {};
}

Result<audit::Requester> AgentUsers::submitterOf(const std::string& user, const std::string& runAs) const {
  const auto found = logins_.find(user);
  if (found == logins_.end())
    return denied("no user '" + user + "' is logged in at this agent; log in again");
  Error why;
  for (const Login& login : found->second) {
    if (login.caller.role == Role::kRead) {
      why = denied("user " + user + " may look and change nothing");
    } else if (const Status may = checkRunAs(runAs, login.caller); !may) {
      why = may.error();
    } else {
      return login.who();
    }
  }
  return why;
}

audit::Requester AgentUsers::Login::who() const {
  std::vector<std::string> named(addresses.begin(), addresses.end());
  if (named.size() > kMaxAddresses) named[kMaxAddresses] = "others";
  audit::Requester who = by;
  who.address = joined(named, ", ");
  return who;
}

}  // namespace tarcil
