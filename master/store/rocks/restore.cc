#include "master/store/rocks/restore.h"

#include "master/store/restoring.h"
#include "master/store/rocks/rocks_store.h"
#include "master/store/rocks/store_folder.h"

namespace tarcil {
namespace {

Result<ClusterRecord> change(const std::string& folder, WallTime now, Rng& rng) {
  auto store = openRocksStore(folder);
  if (!store) return store.error();
  const auto contents = (*store)->load();
  if (!contents) return contents.error();
  const auto changes = changesOfRestore(*contents, now, rng);
  if (!changes) return changes.error();
  if (const Status written = (*store)->write(*changes); !written) return written.error();
  return std::get<ClusterRecord>(std::get<Put>(changes->front()).record);
}

}  // namespace

Result<ClusterRecord> restoreStore(const std::string& backup, const std::string& store, WallTime now,
                                   Rng& rng) {
  if (const Status there = requireStoreFolder(backup); !there) return there.error();
  ClusterRecord restored;
  const Status made = makeStoreFolder(store, [&](const std::string& part) -> Status {
    if (Status copied = copyStoreFiles(backup, part); !copied) return copied;
    const auto changed = change(part, now, rng);
    if (!changed) return changed.error();
    restored = *changed;
    return {};
  });
  if (!made) return made.error();
  return restored;
}

}  // namespace tarcil
