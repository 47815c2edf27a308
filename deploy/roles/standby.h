// A master on etcd before it leads: waits for that on a thread of its own, so that the event loop can tell
// whoever asks who does.
#pragma once

#include <kj/async.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/rng.h"
#include "etcd/client.h"
#include "master/server/leader_news.h"
#include "master/server/standing.h"
#include "master/store/etcd/etcd_store.h"

namespace tarcil {

class Standby final {
 public:
  // `client` outlives it, and the store that it gives. `address`: where this master listens.
  Standby(etcd::Client& client, EtcdStoreOptions options, Rng rng, const std::string& address);
  // Gives up; may take a second.
  ~Standby();
  KJ_DISALLOW_COPY(Standby);

  // Once: resolves when this master leads, or cannot. `store()` has it then.
  kj::Promise<void> decided() { return kj::mv(decided_.promise); }
  Result<std::unique_ptr<EtcdStore>>& store() { return store_; }
  // Once: resolves when another one leads, which is none that was at this address.
  kj::Promise<void> standsBy() { return kj::mv(standsBy_.promise); }

  // As of now, until it is decided.
  MasterStanding standing() const;
  // Tells `news` of each that leads. Never resolves.
  kj::Promise<void> tell(LeaderNews& news);

 private:
  void wait(etcd::Client& client, Rng rng);
  void noteLeader(const Leader& leader);
  void note(const Following& following);

  const EtcdStoreOptions options_;
  std::atomic<bool> goesOn_{true};
  mutable std::mutex mutex_;
  MasterStanding standing_;     // guarded by mutex_
  MonotonicTime completeAt_{};  // guarded by mutex_
  MonotonicTime seenAt_{};      // when etcd last said who leads; guarded by mutex_
  // Of who leads; guarded by mutex_. Null where nobody waits for that.
  kj::Own<kj::CrossThreadPromiseFulfiller<void>> changed_;
  std::string problem_;  // of the thread
  Result<std::unique_ptr<EtcdStore>> store_ = std::unique_ptr<EtcdStore>();
  kj::PromiseCrossThreadFulfillerPair<void> decided_ = kj::newPromiseAndCrossThreadFulfiller<void>();
  kj::PromiseCrossThreadFulfillerPair<void> standsBy_ = kj::newPromiseAndCrossThreadFulfiller<void>();
  std::thread waiting_;
};

}  // namespace tarcil
