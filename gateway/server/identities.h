// Whose tokens are whose, as the cluster says.
#pragma once

#include <kj/async.h>

#include <string>

#include "core/state/caller.h"
#include "env/clock.h"
#include "gateway/logic/known_tokens.h"
#include "gateway/server/workers.h"

namespace tarcil::gateway {

// On the event loop. A token that was right is taken for so for a minute; one that was wrong for some
// seconds.
class Identities final {
 public:
  static constexpr size_t kMaxKnown = 10'000;
  static constexpr size_t kMaxChecking = 100;

  Identities(Workers& workers, const Clock& clock) : workers_(workers), clock_(clock) {}
  KJ_DISALLOW_COPY(Identities);

  // Fails as Denied for a wrong one, as Exhausted where too many are being checked, and as the cluster does.
  kj::Promise<Caller> check(const std::string& token);
  // Asks the cluster, also where it is known, but for one that was asked about just now. False where it is
  // wrong.
  kj::Promise<bool> renew(const std::string& token);
  // Null where it is not known to be right now: check() it.
  kj::Maybe<const Caller&> known(const std::string& token) const;

 private:
  kj::Promise<Caller> ask(const std::string& token);

  Workers& workers_;
  const Clock& clock_;
  KnownTokens known_{kMaxKnown};
  size_t checking_ = 0;
};

}  // namespace tarcil::gateway
