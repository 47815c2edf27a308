// The store in etcd, of the master that leads: every batch one put, as docs/masters.md says.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/rng.h"
#include "env/clock.h"
#include "etcd/client.h"
#include "master/store/etcd/leadership.h"
#include "master/store/store.h"

namespace tarcil {

struct EtcdStoreOptions {
  std::string prefix = "/tarcil/";
  std::string authority{};  // of the cluster: SHA-256 of its certificate in hexadecimal digits; empty: none
  LeadershipOptions leadership{};
  uint64_t quota = uint64_t{2} << 30;  // of etcd, in bytes: etcd's own default
  bool mayBegin = false;               // make a store where there is none
  bool followsWhileWaiting = false;    // hold the state before it leads, and take over without a load
  Duration firstAnswer = std::chrono::seconds(5);  // for which etcd is waited at the start
  size_t foldBytes = 8 << 20;                      // of changes, from which on they are folded ...
  Duration foldPause = std::chrono::seconds(1);    // ... and after which they are in any case
};

// While another master leads.
struct Following {
  bool hasState = false;       // that this one holds, where EtcdStoreOptions say so
  MonotonicTime completeAt{};  // when that was all there is
  std::string problem{};       // why it cannot be gone on with at the moment; empty where it can
};

// On the thread that waits.
struct Waiting {
  std::function<bool()> goesOn = []() { return true; };     // asked once a second at least
  std::function<void(const Leader&)> leads = nullptr;       // told when another one does
  std::function<void(const Following&)> follows = nullptr;  // told as often, while another one leads
};

// A store that only its leader writes.
class EtcdStore : public Store {
 public:
  // Waits until this process leads, as Leadership::campaign(). `client`, `clock` outlive the store. Invalid
  // where there is no store and none may be made, something else is under the prefix, a store of a newer
  // format or of another authority's cluster, or etcd does not answer at all: nothing has been written then.
  // Files of jobs lie in it as other records do.
  static Result<std::unique_ptr<EtcdStore>> open(etcd::Client& client, const EtcdStoreOptions& options,
                                                 const Clock& clock, Rng& rng, const Waiting& waiting = {});

  virtual Leadership& leadership() = 0;
  // What is not in the records yet. From any thread.
  struct JournalLength {
    uint64_t batches = 0, bytes = 0;
  };
  virtual JournalLength journalLength() = 0;
  // Writes the records up to what has been written so far, and returns when they are. For tests, and before a
  // move.
  virtual Status fold() = 0;
};

// Puts the store of a folder, or a backup, into etcd, where no key is under the prefix yet; the folder stays
// as it is. A crash on the way leaves keys there that no master takes for a store. Invalid as
// EtcdStore::open(), and eachRecord() of the folder.
Status importStore(const std::string& folder, etcd::Client& client, const EtcdStoreOptions& options,
                   const Clock& clock, Rng& rng);

}  // namespace tarcil
