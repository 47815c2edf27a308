// Reads a store in etcd as it was at one revision.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "env/clock.h"
#include "etcd/client.h"
#include "master/store/etcd/etcd_keys.h"
#include "master/store/etcd/unfolded.h"
#include "master/store/rocks/rocks_store.h"
#include "master/store/store.h"

namespace tarcil {

// How far a store in etcd has come.
struct EtcdState {
  int64_t revision = 0;     // at which all of this was so
  bool isThere = false;     // the store
  bool isEmpty = false;     // there is no key at all under the prefix, but for the leader's
  std::string authority{};  // whose cluster's it is, as EtcdStoreOptions has it; empty: nobody has said so
  uint64_t folded = 0;      // batches in the records
  int64_t foldedRevision = 0;
  uint64_t tail = 0;  // last batch
  int64_t tailRevision = 0;
  Unfolded unfolded{};  // what is between the two
};

// One that is there and of a format that is known here, or none. Unavailable after `atMost` without an
// answer; Invalid where something else is under the prefix, or a store of a newer format.
Result<EtcdState> readState(etcd::Client& client, const EtcdKeys& keys, const Clock& clock, Duration atMost);

// Gives every record of these kinds (all where empty) in order of keys, as the state has it. `take` throws as
// it likes.
Status scanRecords(etcd::Client& client, const EtcdKeys& keys, const Clock& clock, Duration atMost,
                   const EtcdState& state, const std::string& begin, const std::string& end,
                   const std::function<void(std::string_view key, std::string_view value)>& take);

// As readWholeStore() of a folder: also where a master uses it. Begins again where etcd was told meanwhile to
// forget the moment that is read; Conflict where that happens each time. Invalid where there is none.
Result<StoreReading> readWholeEtcdStore(etcd::Client& client, const std::string& prefix, const Clock& clock);

// How long a reader waits for an answer.
inline constexpr Duration kEtcdPatience = std::chrono::seconds(5);

// The keys of its first records, and of what is behind the last.
inline constexpr const char* kFirstKey = "";
inline constexpr const char* kBehindKeys = "\xff";

}  // namespace tarcil
