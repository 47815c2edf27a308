// What only a scheduler that places by interference can show: servers by resources, applications by
// applications, and what sharing servers is worth.
#pragma once

#include "cli/cluster.h"
#include "formats/json.h"
#include "gateway/logic/routes.h"

namespace tarcil::gateway {

// GET /api/v1/contention of docs/http.md. On a worker thread.
Json contentionPicture(Cluster& cluster, const Arguments& arguments);
// GET /api/v1/interference: of the newest 500 jobs that run, and violations on 100 servers.
Json interferencePicture(Cluster& cluster, const Arguments& arguments);
// GET /api/v1/sharing: of the same jobs.
Json sharingPicture(Cluster& cluster);

}  // namespace tarcil::gateway
