// The master's grants for users whose late-bound tasks this agent has run (rpc/late_grant.h): asked for at a
// user's first job, and again in good time.
#pragma once

#include <kj/async.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "core/base/time.h"
#include "env/clock.h"
#include "rpc/late_grant.h"

namespace tarcil {

// Single-threaded.
class LateGrants final {
 public:
  // Asks the master. A grant without a signature: it is of an earlier version, and monitors want none.
  using Ask = std::function<kj::Promise<LateGrant>(const std::string& user, const std::string& runAs)>;
  // `clock` outlives it.
  LateGrants(const Clock& clock, Ask ask) : clock_(clock), ask_(std::move(ask)) {}
  KJ_DISALLOW_COPY(LateGrants);

  struct Held {
    LateGrant grant;
    uint64_t version = 0;     // rises with each that is given, of whomever
    MonotonicTime renewal{};  // when the next one is asked for
  };
  using Ref = std::shared_ptr<Held>;

  // The user's that holds; as the master said, or kUnavailable, where there is none.
  Result<Ref> find(const std::string& user, const std::string& runAs) const;
  // Asks the master for one; resolves when it has answered. Then find() knows.
  kj::Promise<void> get(const std::string& user, const std::string& runAs);
  // Tasks are about to run by it: the next one is asked for where it is time.
  void use(const Ref& held);
  // The master may be another one, whose grants are to replace those that there are.
  void masterAttached();

  // After so long the next one is asked for. What is left of an hour is how long the master may be away.
  static constexpr Duration kRenewal = std::chrono::minutes(10);
  // Until a master that did not give the next one is asked again.
  static constexpr Duration kPause = std::chrono::seconds(10);
  // Users whose grants are kept though no job goes by them.
  static constexpr size_t kMaxIdle = 10'000;

 private:
  using Key = std::pair<std::string, std::string>;  // user and system user
  struct Entry {
    Ref held;                      // none: none has been given yet
    std::optional<Error> problem;  // of the last time that it was asked for
    bool isAsking = false;
    kj::ForkedPromise<void> asked = kj::Promise<void>(kj::READY_NOW).fork();
  };

  void ask(const Key& key, Entry& entry);
  void take(Entry& entry, LateGrant grant);

  const Clock& clock_;
  const Ask ask_;
  uint64_t versions_ = 0;
  std::map<Key, Entry> entries_;
};

}  // namespace tarcil
