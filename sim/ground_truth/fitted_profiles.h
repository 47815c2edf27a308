// Profiles that explain measured losses: what a classifier would make of them for schedulers that judge by
// what is caused beyond what is tolerated. Of the truth itself nothing is in here.
#pragma once

#include <vector>

#include "core/base/rng.h"
#include "core/model/profile.h"

namespace tarcil::sim {

// `losses` has the loss (1 - performance) of the row's program beside the column's, not a number where nobody
// knows it; its side is the number of programs. Caused and tolerated are chosen so that, beside one
// neighbour,
//   max over resources of max(0, caused of the neighbour - tolerated) / 99
// comes close to it in the mean of squares: from several random beginnings entry after entry is set to its
// best value until none gets better, and the best end is taken. Some milliseconds for 15 programs.
std::vector<Profile> fittedProfiles(const std::vector<double>& losses, Rng& rng);

}  // namespace tarcil::sim
