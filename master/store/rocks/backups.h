// Backups of the store while the master runs, one at a time, each on a thread of its own: copying may take
// long, and the cluster goes on meanwhile.
#pragma once

#include <kj/async.h>

#include <string>
#include <thread>

#include "master/store/store.h"

namespace tarcil {

// Used on the event loop's thread.
class Backups final {
 public:
  // `store` outlives this object.
  explicit Backups(Store& store) : store_(store) {}
  ~Backups();  // waits for the one under way
  Backups(const Backups&) = delete;
  Backups& operator=(const Backups&) = delete;

  // As Store::backup(); Conflict while another one is under way. Goes on when the promise is dropped.
  kj::Promise<void> take(std::string folder);

 private:
  Store& store_;
  std::thread thread_;                                       // joinable while a backup is under way
  kj::Own<kj::CrossThreadPromiseFulfiller<Status>> copied_;  // the thread's way to tell
  kj::Promise<void> finishing_ = kj::READY_NOW;
};

}  // namespace tarcil
