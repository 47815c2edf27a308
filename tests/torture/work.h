// What agents of a torture run ask for: jobs and claims drawn at random, small enough that several fit on a
// server and large enough that most are in each other's way.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/state/commit.h"

namespace tarcil::torture {

// What an agent knows of the servers, by their numbers.
struct SeenServer {
  std::string name;  // empty: not told yet
  ServerStatus status;
};
using SeenServers = std::map<ServerId, SeenServer>;

// A task that may be claimed for.
struct Waiting {
  TaskIndex task = 0;
  uint32_t attempt = 0;
};

// A commit that begins a job, without claims. On the resource "core" each task causes as much pressure as it
// has units, so that sums of pressure can be held against units taken.
Commit newJob(Rng& rng);

// Claims for some of the tasks. Most look sensible; some are for servers that are full or not there, of
// versions long gone or yet to come, or for another attempt.
void addClaims(Rng& rng, const JobSpec& spec, const std::vector<Waiting>& waiting, const SeenServers& servers,
               Commit& commit);

}  // namespace tarcil::torture
