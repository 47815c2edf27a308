// A server as JSON, and who disturbs whom on it.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/output/server_details.h"
#include "formats/json.h"

namespace tarcil {

struct Offence {
  size_t resource = 0;
  std::vector<const ServerTask*> victims;
  std::vector<const ServerTask*> offenders;  // everybody who causes some of it to a victim, the worst first
};
// By resource, those on which some task of the server feels more than it tolerates. Valid as long as
// `server`.
std::vector<Offence> offencesOn(const ServerDetails& server);

// As `server list --json` lists it.
Json jsonOf(const ServerDetails& server);
// As `server show --json` shows it.
Json jsonWithTasks(const ServerDetails& server);

}  // namespace tarcil
