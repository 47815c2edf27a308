#include "rpc/local_user.h"

#include <atomic>
#include <memory>
#include <utility>

#include "env/linux/worker_thread.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

constexpr const char* kGiveToken = "; give --token-file FILE or set TARCIL_TOKEN_FILE";

std::atomic<int> lookups{0};

kj::Exception refusal(const std::string& why) {
  return toException(denied(why + kGiveToken));
}

}  // namespace

kj::Promise<std::string> localUser(const LetIn& letIn,
                                   std::function<std::optional<std::string>(uint32_t uid)> lookUp) {
  const auto uid = letIn.uid();
  if (!uid) kj::throwFatalException(refusal("over the network nobody is let in without a token"));
  if (*uid == 0) kj::throwFatalException(refusal("root is let in by a token alone"));
  if (lookups.fetch_add(1) >= kMaxLookups) {
    --lookups;
    kj::throwFatalException(toException(
        {ErrorCode::kExhausted, "too many users' names are being looked up on this machine (at most " +
                                    std::to_string(kMaxLookups) + "); try again"}));
  }
  auto named = kj::newPromiseAndCrossThreadFulfiller<std::string>();
  // What a thread takes with it must not throw where it ends.
  const auto fulfiller = std::make_shared<decltype(named.fulfiller)>(kj::mv(named.fulfiller));
  startWorker([uid = *uid, lookUp = std::move(lookUp), fulfiller]() {
    auto name = lookUp(uid);
    --lookups;
    if (name) {
      (*fulfiller)->fulfill(std::move(*name));
    } else {
      (*fulfiller)->reject(refusal("this machine has no user of number " + std::to_string(uid)));
    }
  }).detach();
  return kj::mv(named.promise);
}

}  // namespace tarcil
