#include "rpc/local_user.h"

#include "env/user_name.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

constexpr const char* kGiveToken = "; give --token-file FILE or set TARCIL_TOKEN_FILE";

[[noreturn]] void refuse(const std::string& why) {
  kj::throwFatalException(toException(denied(why + kGiveToken)));
}

}  // namespace

std::string requireLocalUser(const LetIn& letIn) {
  const auto uid = letIn.uid();
  if (!uid) refuse("over the network nobody is let in without a token");
  if (*uid == 0) refuse("root is let in by a token alone");
  auto name = userNameOf(*uid);
  if (!name) refuse("this machine has no user of number " + std::to_string(*uid));
  return std::move(*name);
}

}  // namespace tarcil
