// Countable things of a server: which are free, and how tasks take and give back theirs.
#pragma once

#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/model/job.h"
#include "core/state/ru_set.h"

namespace tarcil {

// By kind, the numbers that no task holds; a kind whose things are all taken is there with an empty set.
using FreeExtras = ByKind<RuSet>;

// Of a server that has these and no task: 0 .. count-1 of each kind.
FreeExtras allExtras(const Extras& there);

// Whether so many tasks that need these could have them now.
bool haveExtras(const FreeExtras& free, const Extras& needed, uint32_t times = 1);

// "2 gpus, 1 tapes".
std::string inWords(const Extras& extras);

// The lowest free numbers, as many of each kind as are needed; fewer where fewer are free.
ExtraNumbers lowestExtras(const FreeExtras& free, const Extras& needed);

// Numbers that are not free, and kinds that the server does not have, are passed over.
void takeExtras(FreeExtras& free, const ExtraNumbers& numbers);

// Only what the server still has becomes free: it may have registered with fewer since they were taken.
void returnExtras(FreeExtras& free, const ExtraNumbers& numbers, const Extras& there);

// The variable of a task's environment that has its numbers of this kind: TARCIL_EXTRA_GPUS for "gpus".
// Letters in upper case, everything but letters and digits as _.
std::string extraVariable(const std::string& kind);

}  // namespace tarcil
