// What the tasks of a gang are told of where the others of it are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tarcil {

// Of each of the texts below: it travels with the launch of every task, so that a gang of n tasks takes
// no more than n times as much.
inline constexpr size_t kMaxGangHostsBytes = 32 << 10;

// At most kMaxGangHostsBytes each; a text that would be longer is empty, and its variable is not set.
struct GangHosts {
  // TARCIL_HOSTS: the hosts of all tasks in the order of their indices, with commas between. A task that has
  // no server at the time has an empty one.
  std::string list;
  // The file that TARCIL_HOSTFILE names, as Open MPI reads it: "host slots=N\n", in the order of their first
  // tasks, where N counts the tasks there.
  std::string file;

  bool operator==(const GangHosts&) const = default;
};

// The host of an address at which a role listens: "a" of "a:1", "::1" of "[::1]:1". A socket file is only
// reached from its own machine, which is "localhost". Empty where it holds what no name of a host has.
std::string_view hostOf(std::string_view address);

// `hosts`: of each task of the gang in the order of their indices. O(tasks).
GangHosts gangHosts(const std::vector<std::string_view>& hosts);

}  // namespace tarcil
