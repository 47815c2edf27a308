// The store on disk: RocksDB, every batch one synced WriteBatch.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "master/store/store.h"
#include "master/store/store_check.h"

namespace tarcil {

// Opens the store in `folder`, makes it if there is none. Fails with a text that names the folder and the
// remedy: not writable, in use by another process, written by a newer version. files() and decisions() may be
// called while write() runs on another thread: they read what has been synced. backup() links files where the
// folder is on the store's own file system, and copies them elsewhere.
Result<std::unique_ptr<Store>> openRocksStore(const std::string& folder);

// The same of a store that is there and that no process writes: nothing is written to it, and no master opens
// it to write meanwhile. write() and backup() fail. Invalid where there is none, or a master uses it.
Result<std::unique_ptr<Store>> openRocksStoreReadOnly(const std::string& folder);

// A store as a whole, and what of it cannot be read: damaged files, records that cannot be decoded or lie
// under another record's key.
struct StoreReading {
  WholeStore store;
  std::vector<StoreProblem> unreadable;
};

// Reads the store in `folder` and writes nothing there. Invalid where there is none, or a process uses it.
Result<StoreReading> readWholeStore(const std::string& folder);

// Gives every record of the store in `folder`, as bytes, and writes nothing there; a master that would write
// does not open it meanwhile. Invalid as readWholeStore().
Status eachRecord(const std::string& folder,
                  const std::function<Status(std::string key, std::string value)>& take);

}  // namespace tarcil
