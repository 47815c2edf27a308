// Folders that hold a store or a copy of one: they appear under their name when everything in them is on
// disk, so that a crash on the way leaves nothing that looks whole.
#pragma once

#include <kj/io.h>

#include <functional>
#include <string>

#include "core/base/result.h"

namespace tarcil {

// Has `fill` write everything into a folder beside `folder`, which it makes itself under the name it is
// given, and then gives that its name. `folder` is an absolute path that is not there or empty; readable by
// its owner alone afterwards. Invalid, with the remedy, where the folder cannot be used; otherwise what
// `fill` failed with. What a failed `fill` leaves is removed; what a crash leaves is refused the next time,
// by its name, and never used.
Status makeStoreFolder(const std::string& folder, const std::function<Status(const std::string&)>& fill);

// The same for a master's first start: what an earlier start left that was interrupted is replaced. Makes the
// folders above it.
Status beginStoreFolder(const std::string& folder, const std::function<Status(const std::string&)>& fill);

// Copies a store that no process uses, without its log of messages and its lock. Makes the folder `to`.
Status copyStoreFiles(const std::string& from, const std::string& to);

// False where there is no such folder or it is empty. Invalid where it is that of a store whose files are
// gone: a new one must not take their place unasked.
Result<bool> hasStore(const std::string& folder);

// Whether there is a store (or a backup, which is one) in the folder that no process uses; Invalid otherwise.
Status requireStoreFolder(const std::string& folder);

// Keeps masters that would write from opening the store, while others read it too. Given back with the
// object.
class StoreShare final {
 public:
  StoreShare(StoreShare&&) = default;
  ~StoreShare() noexcept = default;

  // Invalid as requireStoreFolder(). Of a backup, which has no lock, nothing is kept from anybody.
  static Result<StoreShare> take(const std::string& folder);

 private:
  explicit StoreShare(kj::AutoCloseFd lock) : lock_(kj::mv(lock)) {}

  kj::AutoCloseFd lock_;
};

}  // namespace tarcil
