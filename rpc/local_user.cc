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

// One that is under way; held by its thread.
struct Lookup {
  explicit Lookup(kj::Own<kj::CrossThreadPromiseFulfiller<std::string>> fulfiller) : name(kj::mv(fulfiller)) {
    ++lookups;
  }
  ~Lookup() noexcept { --lookups; }
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  kj::Own<kj::CrossThreadPromiseFulfiller<std::string>> name;
};

Error refusal(const std::string& why) {
  return denied(why + kGiveToken);
}

}  // namespace

kj::Promise<std::string> localUser(const LetIn& letIn,
                                   std::function<std::optional<std::string>(uint32_t uid)> lookUp) {
  const auto uid = letIn.uid();
  if (!uid)
    kj::throwFatalException(toException(refusal("over the network nobody is let in without a token")));
  if (*uid == 0) kj::throwFatalException(toException(refusal("root is let in by a token alone")));
  if (lookups >= kMaxLookups) {
    kj::throwFatalException(toException(
        {ErrorCode::kExhausted, "too many users' names are being looked up on this machine (at most " +
                                    std::to_string(kMaxLookups) + "); try again"}));
  }
  auto named = kj::newPromiseAndCrossThreadFulfiller<std::string>();
  const auto lookup = std::make_shared<Lookup>(kj::mv(named.fulfiller));
  startWorker([uid = *uid, lookUp = std::move(lookUp), lookup]() {
    std::optional<std::string> name;
    const Status status = caught([&]() -> Status {
      name = lookUp(uid);
      if (!name) return refusal("this machine has no user of number " + std::to_string(uid));
      return {};
    });
    status ? lookup->name->fulfill(std::move(*name)) : lookup->name->reject(toException(status.error()));
  }).detach();
  return kj::mv(named.promise);
}

}  // namespace tarcil
