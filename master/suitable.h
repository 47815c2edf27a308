// Which servers a waiting job could go to, whatever runs there.
#pragma once

#include "core/model/job.h"
#include "master/server_table.h"

namespace tarcil::master {

// Whether the server takes new tasks and meets the job's constraints.
bool isSuitable(const Server& server, const JobSpec& spec);

}  // namespace tarcil::master
