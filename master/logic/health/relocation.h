// Other servers for tasks that fall short where they are (docs/protocol.md).
#pragma once

#include <optional>

#include "core/state/claim.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// A task that would do better elsewhere.
struct Relocation {
  // What keeps it from doing as expected: others, that it uses up its cores, or its memory.
  enum class HeldBy : uint8_t { kOthers, kCores, kMemory };

  Hold hold;
  double part = 0;  // of what is expected that it reaches where it is
  HeldBy heldBy = HeldBy::kOthers;
  size_t units = 1;  // that it could use
};

// The server, of kMaxLookedAt from the one numbered `first` (modulo their number) on, where it gets most of
// those units, and may expect kWorthAMove more of its performance on its best platform than it has now:
//   E = S * platform factor (docs/design.md) * reach,   reach = min(1, units there / units here)
// of which a task that uses up its cores, or has no more memory there, reaches no more than `part` with as
// many units as here. More units than the job asks for are free there, kept for nobody, and no waiting job
// could use them (claimants.h). nullopt where there is none. The claim's floor is the S that is worth the
// move. O(servers looked at).
std::optional<Claim> betterPlace(const Tables& tables, const Relocation& task, size_t first);

inline constexpr size_t kMaxLookedAt = 128;
inline constexpr double kWorthAMove = 0.1;  // each move costs what the task has done so far

// Places the task on the units of that claim, for its owner to launch. False, and nothing is done, where they
// are not to be had any more, or the task is not to run. Requires: its last attempt is over.
bool takePlace(EventContext& context, Job& job, Claim claim);

}  // namespace tarcil::master
