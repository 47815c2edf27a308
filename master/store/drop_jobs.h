// The way out where a master cannot start with what its store holds: jobs are taken out of it.
#pragma once

#include <string>
#include <vector>

#include "master/store/store.h"

namespace tarcil {

// Takes the jobs with these ids out of the contents, with all that belongs to them; returns what has to be
// written for the store to lose them too. What runs of them is stopped once its monitor attaches, and counts
// in nobody's usage. Invalid where an id is none or the store has no such job; then nothing is changed.
Result<std::vector<Mutation>> dropJobs(StoreContents& contents, const std::vector<std::string>& ids);

}  // namespace tarcil
