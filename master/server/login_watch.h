// Who is logged in with what, and when that no longer holds: a token that was taken away or expired, a user
// whose rights changed.
#pragma once

#include <kj/async.h>

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <variant>

#include "core/base/result.h"
#include "core/state/caller.h"

namespace tarcil {

// What somebody shows who logs in.
struct ShownToken {
  std::string text;
  bool operator==(const ShownToken&) const = default;
};
struct VouchedUser {
  std::string name, agent;
  bool operator==(const VouchedUser&) const = default;
};
using LoginProof = std::variant<ShownToken, VouchedUser>;

// Single-threaded. Promises that it gave may outlive it: some ports go with the event loop, and nothing ends
// their logins then.
class LoginWatch final {
 public:
  // As whom what is shown lets somebody in now, or why not.
  using Judge = std::function<Result<Caller>(const LoginProof&)>;
  explicit LoginWatch(Judge judge) : judge_(std::move(judge)) {}
  KJ_DISALLOW_COPY(LoginWatch);

  // Fails, and says why, as soon as what was shown no longer makes its holder this caller.
  kj::Promise<void> untilEnded(LoginProof shown, Caller caller);

  // What is believed of this user has changed.
  void look(const std::string& user);
  // What is believed of anybody has. O(logins * what judging takes).
  void lookAtAll();

 private:
  class Standing;
  using List = std::list<Standing*>;
  void judge(Standing& standing);

  const Judge judge_;
  const std::shared_ptr<List> standing_ = std::make_shared<List>();
};

}  // namespace tarcil
